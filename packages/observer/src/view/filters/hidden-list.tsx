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
  /** Button that shows the hidden part again, if the reader is able to show it. */
  readonly undo?: { readonly label: string; readonly act: () => void }
}

/** Lists hidden parts of the space, each with the reason. */
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

/** Names a context by the seq of the envelope that opened it, or by its path if that is not loaded. */
const placesIn =
  ({ log }: SpaceModel) =>
  (context: string): string => {
    const opening = log.get(context.slice(context.lastIndexOf('/') + 1))
    return opening === undefined ? context : `#${opening.seq}`
  }

const details: Readonly<Record<Detail, string>> = {
  full: '',
  summary: 'thoughts of everyone, but how many',
  boundaries: 'thoughts of everyone',
  none: 'reasoning of everyone',
}

function useOwnChoices(): Part[] {
  const { session, viewFilter } = useSpace()
  const { model, subscription } = session
  const describePlace = placesIn(model)
  const { cut, saved, missing } = subscription
  const by = 'by you'
  const atGateway = `${by}, at the gateway`
  const parts: Part[] = []
  const add = (key: string, what: string, why: string, show?: () => void): void => {
    parts.push({ key, what, why, ...(show && { undo: { label: 'show', act: show } }) })
  }
  for (const id of model.viewFilter.muted) {
    const what = `${countText(model.members.countThoughts(id), 'thought')} of ${id}`
    add(`mute ${id}`, what, by, () => viewFilter.mute(id, false))
  }
  for (const id of cut.from) {
    const show = (): void => viewFilter.cut({ ...cut, from: toggled(cut.from, id) })
    add(`from ${id}`, `all but messages and tools of ${id}`, atGateway, show)
  }
  for (const context of cut.contexts) {
    const show = (): void => viewFilter.cut({ ...cut, contexts: toggled(cut.contexts, context) })
    add(`in ${context}`, `what is in run ${describePlace(context)}`, atGateway, show)
  }
  if (cut.detail !== 'full') {
    add('detail', details[cut.detail], atGateway, () => viewFilter.cut({ ...cut, detail: nothingCut.detail }))
  }
  const notSent = Math.max(missing.cut, isCutting(cut) ? saved.envelopes : 0)
  if (notSent > 0) {
    const why = saved.bytes === 0 ? by : `${by}: ${sizeText(saved.bytes)} saved`
    add('saved', `${countText(notSent, 'envelope')} not sent`, why)
  }
  const { dropped } = model.logFilter
  if (dropped > 0) add('filter', countText(dropped, 'envelope'), 'by your filter', () => viewFilter.widen())
  return parts
}

function useOthersChoices(): Part[] {
  const { session, can, act, isLive } = useSpace()
  const { model, subscription } = session
  const describePlace = placesIn(model)
  const me = session.welcome?.you.id ?? ''
  const parts = model.hiddenRuns().map((run): Part => {
    const { context, owner, hiddenBy } = run
    const payload = { context, reasoningVisible: true }
    const mayShow =
      isLive && hasHidden(run, me) && (owner === me || can({ kind: Kind.observeVisibility, payload }))
    const show = (): void =>
      act('The run could not be changed', async () => session.client?.setVisibility(context, true))
    return {
      key: `run ${context}`,
      what: `${isAllHidden(run) ? 'all thoughts' : `thoughts of ${owner}`} in run ${describePlace(context)}`,
      why: `by ${hiddenBy.map(nameText).join(' and ')}, from everyone`,
      ...(mayShow && { undo: { label: 'show to all', act: show } }),
    }
  })
  const missing = subscription.missing.notPermitted
  if (missing > 0) {
    const why = parts.length > 0 ? 'of a hidden run, or for others' : 'not permitted: for others'
    parts.push({ key: 'missing', what: countText(missing, 'envelope'), why })
  }
  const { withheld } = model.members
  if (withheld > 0) {
    const why = 'withheld: the guard of the space kept them back'
    parts.push({ key: 'withheld', what: countText(withheld, 'text'), why })
  }
  return parts
}
