import type { ProposalView } from '@meup/folds'
import { correlations, type Envelope } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  ageText,
  countText,
  judge,
  likenessOf,
  nameText,
  sortWaiting,
  splitTarget,
  summarizeCall,
  type Waiting,
} from '../../model/index.js'
import { CloseButton, Name } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { ElicitationCard } from './elicitation-card.js'
import { GroupReview } from './group-review.js'
import { useNotifications } from './notifications.js'
import { ProposalCard } from './proposal-card.js'
import { type Pending, usePending } from './use-pending.js'
import '../../style/inbox.css'

/** Proposals of one participant for the same tool. */
interface Group {
  readonly key: string
  readonly list: readonly Waiting[]
}

/** The inbox is the page's main landmark, because the view that it covers is inert. */
const landmark = 'main'

interface InboxProps {
  /** Id of the proposal or elicitation to show first. */
  readonly first?: string | undefined
  readonly close: () => void
}

/** The queue of pending decisions, with the chosen one. */
export function Inbox({ first, close }: InboxProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const { mine, others } = usePending()
  const elicitations = model.elicitations(session.welcome?.you.id)
  const { waiting, news, sort } = useSteadyOrder(mine)
  const groups = groupWaiting(waiting)
  const ids = [
    ...elicitations.map(({ id }) => id),
    ...groups.flatMap(({ list }) => list.map(({ proposal }) => proposal.id)),
  ]
  const [chosen, choose] = useChosen(ids, first)
  const group = groups.find(({ key }) => key === chosen)
  const asked = useAskedBack(elicitations)
  useEffect(() => {
    if (asked !== undefined) choose(asked)
  }, [asked])
  const place = useRef<HTMLElement>(null)
  // Focuses the chosen entry if the focus is not in the inbox: it was in the covered view, or in the card just decided.
  useEffect(() => {
    if (document.activeElement?.closest('.inbox, input, select') == null)
      place.current?.querySelector<HTMLElement>('.entry[aria-current="true"]')?.focus()
  }, [chosen])
  return (
    <section class="inbox" role={landmark} aria-label="Inbox" ref={place}>
      <header>
        <h2>
          Inbox{' '}
          <span class="dim">
            {countText(mine.length, 'proposal')}
            {elicitations.length > 0 && ` · ${countText(elicitations.length, 'question')}`}
          </span>
        </h2>
        <Notifications />
        <CloseButton close={close} />
      </header>
      <div class="queue">
        {news > 0 && (
          <button type="button" onClick={sort}>
            {news} new, at the end: sort again
          </button>
        )}
        {ids.length === 0 && <p class="dim">Nothing waits for your decision.</p>}
        {elicitations.length > 0 && (
          <ul aria-label="Questions to you">
            {elicitations.map((envelope) => (
              <QuestionLine key={envelope.id} {...{ envelope, chosen, choose }} />
            ))}
          </ul>
        )}
        {groups.map((each) => (
          <GroupLines key={each.key} group={each} chosen={chosen} choose={choose} />
        ))}
        <Others list={others} chosen={chosen} choose={choose} />
      </div>
      <div class="review">
        {group === undefined ? (
          <Review key={chosen} id={chosen} next={() => choose(undefined)} />
        ) : (
          <GroupReview key={group.key} list={group.list} done={() => choose(undefined)} />
        )}
      </div>
    </section>
  )
}

/** Groups similar proposals, ordered by the first one of each group. */
function groupWaiting(waiting: readonly Waiting[]): readonly Group[] {
  const groups = new Map<string, Waiting[]>()
  for (const each of waiting) {
    const key = likenessOf(each.proposal)
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups].map(([key, list]) => ({ key, list }))
}

/**
 * Id of the chosen proposal or elicitation, or key of the chosen group. The reader's decision moves on to the next one; someone
 * else's does not, so that a click never hits another proposal. `choose(undefined)` moves on.
 */
function useChosen(
  ids: readonly string[],
  first: string | undefined,
): readonly [string, (chosen: string | undefined) => void] {
  const { session } = useSpace()
  const [chosen, choose] = useState(first)
  const place = useRef(0)
  const at = chosen === undefined ? -1 : ids.indexOf(chosen)
  if (at !== -1) place.current = at
  const next = ids[Math.min(place.current, ids.length - 1)] ?? ''
  const isOver = chosen !== undefined && at === -1 && wasDecidedHere(session, chosen)
  useEffect(() => {
    // Moves on, unless the reader has chosen another entry since the last render.
    if (chosen === undefined || isOver)
      choose((now) => (now !== chosen ? now : next === '' ? undefined : next))
  }, [chosen, isOver, next])
  return [chosen === undefined || isOver ? next : chosen, choose]
}

function wasDecidedHere(
  { model, welcome, held }: ReturnType<typeof useSpace>['session'],
  id: string,
): boolean {
  const me = welcome?.you.id
  const proposal = model.getProposal(id)
  if (proposal === undefined)
    return !model.elicitations(me).some((each) => each.id === id) && !id.startsWith('[')
  const by = [...proposal.fulfilments, ...proposal.rejections].at(-1)?.by
  return held.has(id) || (proposal.state !== 'open' && by === me)
}

/** A new elicitation about a call that this reader has approved: it is shown next. */
function useAskedBack(elicitations: readonly Envelope[]): string | undefined {
  const { model, welcome } = useSpace().session
  const before = useRef(new Set(elicitations.map(({ id }) => id)))
  const isAboutApproved = (elicitation: Envelope): boolean =>
    correlations(elicitation)
      .flatMap((id) => model.log.get(id) ?? [])
      .some(
        (call) =>
          call.from === welcome?.you.id &&
          correlations(call).some((id) => model.getProposal(id) !== undefined),
      )
  return elicitations.find((each) => !before.current.has(each.id) && isAboutApproved(each))?.id
}

interface Chooser {
  readonly chosen: string
  readonly choose: (chosen: string) => void
}

function QuestionLine({ envelope, chosen, choose }: Chooser & { readonly envelope: Envelope }): VNode {
  const { id, from, ts } = envelope
  return (
    <li>
      <button type="button" class="entry" aria-current={chosen === id} onClick={() => choose(id)}>
        <span class="dot question" role="img" aria-label="question" />
        <span>
          <Name id={from} /> asks you
        </span>
        <Age ts={ts} />
      </button>
    </li>
  )
}

/** Similar proposals under a heading, with a button to decide them together. */
function GroupLines({
  group: { key, list },
  chosen,
  choose,
}: Chooser & { readonly group: Group }): VNode | null {
  const [isOpen, setOpen] = useState(true)
  const [first] = list
  if (first === undefined) return null
  const { source, tool } = first.proposal
  const title = `${source.from} · ${nameText(tool)}${source.to ? ` · ${source.to.join(', ')}` : ''}`
  return (
    <section aria-label={title}>
      <header class="group">
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <b>{title}</b>
          {list.length > 1 && ` — ${list.length}`}
        </button>
        {list.length > 1 && (
          <button
            type="button"
            class="link"
            aria-label={`Decide all ${list.length}: ${title}`}
            aria-current={chosen === key}
            onClick={() => choose(key)}
          >
            Decide all…
          </button>
        )}
      </header>
      {isOpen && (
        <ul>
          {list.map(({ proposal, risk }) => (
            <ProposalLine key={proposal.id} {...{ proposal, chosen, choose }} risk={risk} />
          ))}
        </ul>
      )}
    </section>
  )
}

const riskWords = {
  destructive: 'destructive',
  unknown: 'effect unknown',
  writes: 'writes',
  reads: 'reads only',
} as const

function ProposalLine({
  proposal: { id, source, proposedAt },
  risk: { level, reason },
  chosen,
  choose,
}: Chooser & Pick<Waiting, 'proposal' | 'risk'>): VNode {
  const envelope = useSpace().session.model.log.get(id)
  const [folder, name] = envelope === undefined ? ['', ''] : splitTarget(envelope)
  return (
    <li>
      <button type="button" class="entry" aria-current={chosen === id} onClick={() => choose(id)}>
        <span class={`dot ${level}`} role="img" aria-label={riskWords[level]} title={reason} />
        <code class="target">
          <span class="folder">{folder}</span>
          <span class="last">{name || `#${source.seq}`}</span>
        </code>
        <Age ts={proposedAt} />
      </button>
    </li>
  )
}

const Age = ({ ts }: { ts: string }): VNode => {
  const { model } = useSpace().session
  return <span class="dim">{ageText(model.gatewayTime(Date.now()) - Date.parse(ts))}</span>
}

function Others({ list, chosen, choose }: Chooser & { readonly list: Pending['others'] }): VNode | null {
  const { model } = useSpace().session
  if (list.length === 0) return null
  return (
    <details>
      <summary>Waiting for others: {list.length}</summary>
      <ul>
        {list.map((proposal) => (
          <ProposalLine
            key={proposal.id}
            {...{ proposal, chosen, choose }}
            risk={judge(model, proposal).risk}
          />
        ))}
      </ul>
    </details>
  )
}

/** A proposal or elicitation, with the result once it is decided. */
function Review({ id, next }: { id: string; next: () => void }): VNode | null {
  const { model } = useSpace().session
  const envelope = model.log.get(id)
  const proposal = model.getProposal(id)
  if (envelope === undefined) return null
  if (proposal === undefined) return <ElicitationCard envelope={envelope} />
  return (
    <>
      <ProposalCard row={{ proposal, envelope, summary: summarizeCall(envelope.payload) }} />
      {proposal.state !== 'open' && (
        <button type="button" onClick={next}>
          Next
        </button>
      )}
    </>
  )
}

/**
 * Sorts proposals, but keeps the order while the inbox is open, so that a click never hits another line: new ones are appended.
 */
function useSteadyOrder(mine: readonly ProposalView[]): {
  readonly waiting: readonly Waiting[]
  /** Number of proposals that were appended since the list was last sorted. */
  readonly news: number
  readonly sort: () => void
} {
  const { model } = useSpace().session
  const order = useRef<readonly string[]>([])
  const known = new Set(order.current)
  const sorted = sortWaiting(model, mine)
  if (!mine.some(({ id }) => known.has(id))) order.current = sorted.map(({ proposal }) => proposal.id)
  const places = new Map(order.current.map((id, place) => [id, place]))
  const placeOf = ({ proposal: { id, source } }: Waiting): number =>
    places.get(id) ?? places.size + source.seq
  return {
    waiting: [...sorted].sort((one, other) => placeOf(one) - placeOf(other)),
    news: mine.filter(({ id }) => !places.has(id)).length,
    sort: () => {
      order.current = []
    },
  }
}

/** Button that enables browser notifications. */
function Notifications(): VNode | null {
  const { state, ask } = useNotifications()
  if (state !== 'default') return null
  return (
    <button type="button" class="link" onClick={ask}>
      Notify me when something waits
    </button>
  )
}
