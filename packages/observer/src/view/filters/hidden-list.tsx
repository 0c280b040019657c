import { type Detail, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import {
  countText,
  hasHidden,
  isAllHidden,
  isCutting,
  nameText,
  nothingCut,
  type SpaceModel,
  sizeText,
  toggled,
} from '../../model/index.js'
import { useSpace } from '../shared/use-space.js'

interface Part {
  readonly key: string
  readonly what: string
  readonly why: string
  /** What brings it back, where that is up to this reader. */
  readonly undo?: { readonly label: string; readonly act: () => void }
}

/** What this reader does not see, and for each of it why. */
export function HiddenList(): VNode | null {
  const parts = [...useOwnChoices(), ...useOthersChoices()]
  if (parts.length === 0) return null
  return (
    <section class="hidden-list" aria-label="Hidden from you">
      <h2>Hidden from you</h2>
      <ul>
        {parts.map(({ key, what, why, undo }) => (
          <li key={key}>
            <span class="said">{what}</span>
            <span class="why dim">{why}</span>
            {undo !== undefined && (
              <button type="button" class="link" aria-label={`${undo.label}: ${what}`} onClick={undo.act}>
                {undo.label}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The number of the envelope that opened a context; its path where that is not known. */
const placesIn =
  ({ log }: SpaceModel) =>
  (context: string): string => {
    const opening = log.get(context.slice(context.lastIndexOf('/') + 1))
    return opening === undefined ? context : `#${opening.seq}`
  }

const details: Readonly<Record<Detail, string>> = {
  full: '',
  boundaries: 'thoughts of everybody',
  none: 'reasoning of everybody',
}

function useOwnChoices(): Part[] {
  const { session, viewFilter } = useSpace()
  const { model, subscription } = session
  const placeOf = placesIn(model)
  const { cut, saved, missing } = subscription
  const by = 'by you'
  const atGateway = `${by}, at the gateway`
  const muted = [...model.viewFilter.muted].map((id): Part => {
    const count = model.members.countThoughts(id)
    const undo = { label: 'show', act: () => viewFilter.mute(id, false) }
    return { key: `mute ${id}`, what: `${countText(count, 'thought')} of ${id}`, why: by, undo }
  })
  const from = cut.from.map((id): Part => {
    const undo = { label: 'show', act: () => viewFilter.cut({ ...cut, from: toggled(cut.from, id) }) }
    return { key: `from ${id}`, what: `all but messages and tools of ${id}`, why: atGateway, undo }
  })
  const contexts = cut.contexts.map((context): Part => {
    const undo = {
      label: 'show',
      act: () => viewFilter.cut({ ...cut, contexts: toggled(cut.contexts, context) }),
    }
    return { key: `in ${context}`, what: `what is in run ${placeOf(context)}`, why: atGateway, undo }
  })
  const detail: Part[] =
    cut.detail === 'full'
      ? []
      : [
          {
            key: 'detail',
            what: details[cut.detail],
            why: atGateway,
            undo: { label: 'show', act: () => viewFilter.cut({ ...cut, detail: nothingCut.detail }) },
          },
        ]
  const notSent = Math.max(missing.cut, isCutting(cut) ? saved.envelopes : 0)
  const savings: Part[] =
    notSent === 0
      ? []
      : [
          {
            key: 'saved',
            what: `${countText(notSent, 'envelope')} not sent`,
            why: saved.bytes === 0 ? by : `${by}: ${sizeText(saved.bytes)} saved`,
          },
        ]
  const { dropped } = model.logFilter
  const filtered: Part[] =
    dropped === 0
      ? []
      : [
          {
            key: 'filter',
            what: countText(dropped, 'envelope'),
            why: 'by your filter',
            undo: { label: 'show', act: () => viewFilter.widen() },
          },
        ]
  return [...muted, ...from, ...contexts, ...detail, ...savings, ...filtered]
}

function useOthersChoices(): Part[] {
  const { session, can, act, isLive } = useSpace()
  const { model, subscription } = session
  const placeOf = placesIn(model)
  const me = session.welcome?.you.id ?? ''
  const runs = model.hiddenRuns().map((run): Part => {
    const { context, owner, hiddenBy } = run
    const payload = { context, reasoningVisible: true }
    const mayShow =
      isLive && hasHidden(run, me) && (owner === me || can({ kind: Kind.observeVisibility, payload }))
    const show = (): void =>
      act('The run could not be changed', async () => session.client?.setVisibility(context, true))
    return {
      key: `run ${context}`,
      what: `${isAllHidden(run) ? 'all thoughts' : `thoughts of ${owner}`} in run ${placeOf(context)}`,
      why: `by ${hiddenBy.map(nameText).join(' and ')}, from everybody`,
      ...(mayShow && { undo: { label: 'show to all', act: show } }),
    }
  })
  const missing = subscription.missing.notPermitted
  const isUnsure = runs.length > 0
  const absent: Part[] =
    missing === 0
      ? []
      : [
          {
            key: 'missing',
            what: countText(missing, 'envelope'),
            why: isUnsure ? 'of a hidden run, or for others' : 'not permitted: for others',
          },
        ]
  const { withheld } = model.members
  const kept: Part[] =
    withheld === 0
      ? []
      : [
          {
            key: 'withheld',
            what: countText(withheld, 'text'),
            why: 'withheld: the guard of the space kept them back',
          },
        ]
  return [...runs, ...absent, ...kept]
}
