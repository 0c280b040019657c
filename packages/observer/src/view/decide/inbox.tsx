import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { countText, likenessOf, nameText, type Waiting } from '../../model/index.js'
import { useNow } from '../shared/hooks.js'
import { CloseButton } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { useNotifications } from './alerts.js'
import { isDecidable } from './decision.js'
import { ElicitationCard } from './elicitation-card.js'
import { hasSeenAll, OpenCard } from './proposal-card.js'

/** Cards that are drawn at first. */
const maxCards = 60

/** Everything that waits for a decision in this space: what deserves a second look first. */
export function Inbox({ close }: { close: () => void }): VNode {
  const { session, can } = useSpace()
  const elicitations = session.model.elicitations(session.welcome?.you.id)
  const { waiting, news, sort } = useSteadyOrder(session.model.waiting(useNow(true)))
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? waiting : waiting.slice(0, maxCards)
  // What is not drawn is not decided.
  const picked = shown.filter(({ proposal }) => chosen.has(proposal.id))
  const mine = shown.filter(({ proposal }) => isDecidable(proposal, session, can))
  return (
    <aside class="inspector inbox" aria-label="Inbox">
      <header>
        <h2>
          Inbox{' '}
          <span class="dim">
            {countText(waiting.length, 'proposal')}
            {elicitations.length > 0 && ` · ${countText(elicitations.length, 'question')}`}
          </span>
        </h2>
        <CloseButton close={close} />
      </header>
      <Notifications />
      {news > 0 && (
        <button type="button" onClick={sort}>
          {news} new, at the end: sort again
        </button>
      )}
      {elicitations.length > 0 && (
        <ul class="cards">
          {elicitations.map((envelope) => (
            <li key={envelope.id}>
              <ElicitationCard envelope={envelope} />
            </li>
          ))}
        </ul>
      )}
      {waiting.length + elicitations.length === 0 && <p class="dim">Nothing waits for a decision.</p>}
      {mine.length > 1 && (
        <Together
          picked={picked}
          all={mine}
          choose={(list) => choose(new Set(list.map(({ proposal }) => proposal.id)))}
        />
      )}
      <ul class="cards">
        {shown.map(({ proposal }) => {
          const envelope = session.model.log.get(proposal.id)
          return (
            <li key={proposal.id}>
              {mine.length > 1 && mine.some((each) => each.proposal.id === proposal.id) && (
                <input
                  type="checkbox"
                  aria-label={`Choose the proposal of ${proposal.source.from}, #${proposal.source.seq}`}
                  checked={chosen.has(proposal.id)}
                  onChange={() => {
                    const next = new Set(chosen)
                    if (!next.delete(proposal.id)) next.add(proposal.id)
                    choose(next)
                  }}
                />
              )}
              {envelope !== undefined && <OpenCard proposal={proposal} envelope={envelope} />}
            </li>
          )
        })}
      </ul>
      {waiting.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show the other {waiting.length - shown.length}
        </button>
      )}
    </aside>
  )
}

/**
 * Cards stay where they are while the inbox is open, so that nobody presses the button of another one: what comes meanwhile
 * stands at the end.
 */
function useSteadyOrder(sorted: readonly Waiting[]): {
  readonly waiting: readonly Waiting[]
  /** How many came since they were sorted. */
  readonly news: number
  readonly sort: () => void
} {
  const order = useRef<readonly string[]>([])
  const known = new Set(order.current)
  if (!sorted.some(({ proposal }) => known.has(proposal.id)))
    order.current = sorted.map(({ proposal }) => proposal.id)
  const places = new Map(order.current.map((id, place) => [id, place]))
  const placeOf = ({ proposal: { id, source } }: Waiting): number =>
    places.get(id) ?? places.size + source.seq
  const waiting = [...sorted].sort((one, other) => placeOf(one) - placeOf(other))
  return {
    waiting,
    news: waiting.filter(({ proposal }) => !places.has(proposal.id)).length,
    sort: () => {
      order.current = []
    },
  }
}

interface TogetherProps {
  readonly picked: readonly Waiting[]
  /** Those that this reader may decide. */
  readonly all: readonly Waiting[]
  readonly choose: (list: readonly Waiting[]) => void
}

/** Decides several at once: approves where tool and asker are the same, rejects any, with one reason. */
function Together({ picked, all, choose }: TogetherProps): VNode {
  const { session, isLive, act } = useSpace()
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const kinds = new Set(picked.map(({ proposal }) => likenessOf(proposal)))
  const [first] = picked
  const likeFirst = all.filter(({ proposal }) => first && likenessOf(proposal) === likenessOf(first.proposal))
  const isSeen = ({ proposal: { id } }: Waiting): boolean => {
    const envelope = session.model.log.get(id)
    return envelope !== undefined && hasSeenAll(session, envelope)
  }
  const mayApprove = kinds.size === 1 && picked.every(isSeen)
  // One at a time asks again; several are counted, so that nobody approves more than they mean to.
  const isDestructive = picked.some(({ risk }) => risk.level === 'destructive')
  const isMeant = !isDestructive || typed.trim() === `${picked.length}`
  const each = (decide: (id: string) => Promise<unknown> | undefined): Promise<unknown> =>
    Promise.all(picked.map(({ proposal }) => decide(proposal.id)))
  const message = reason.trim()
  return (
    <fieldset class="together" aria-label="Decide several at once">
      <p>
        <button type="button" class="link" onClick={() => choose(picked.length === all.length ? [] : all)}>
          {picked.length === all.length ? 'choose none' : `choose all ${all.length}`}
        </button>
        {likeFirst.length > picked.length && (
          <button type="button" class="link" onClick={() => choose(likeFirst)}>
            choose the {likeFirst.length} of {first?.proposal.source.from} for{' '}
            {nameText(first?.proposal.tool ?? '')}
          </button>
        )}
      </p>
      {picked.length > 0 && (
        <p class="decision">
          {isDestructive && (
            <input
              aria-label={`Type ${picked.length} to approve them`}
              placeholder={`Type ${picked.length}`}
              inputMode="numeric"
              size={8}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <button
            type="button"
            class={isDestructive ? 'bad' : 'primary'}
            disabled={!isLive || !mayApprove || !isMeant}
            title={
              !mayApprove
                ? 'Only where asker, tool and target are the same, and each was seen to its end'
                : isMeant
                  ? ''
                  : `Some are destructive: type ${picked.length} to approve them`
            }
            onClick={() =>
              act('Not all were approved', () => each((id) => session.client?.proposals.approve(id)))
            }
          >
            Approve {picked.length}
          </button>
          <input
            aria-label="Why not, for all of them"
            placeholder="Why not? (for everyone to read)"
            maxLength={1000}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button
            type="button"
            class="bad"
            disabled={!isLive}
            onClick={() => {
              const why = { reason: 'declined', ...(message !== '' && { message }) }
              act('Not all were rejected', () => each((id) => session.client?.proposals.reject(id, why)))
            }}
          >
            Reject {picked.length}
          </button>
        </p>
      )}
    </fieldset>
  )
}

/** Asks the browser for notifications, for who wants them. */
function Notifications(): VNode | null {
  const { state, ask } = useNotifications()
  if (state === 'granted') return <p class="dim">The browser notifies you when something waits.</p>
  if (state === 'denied') return <p class="dim">The browser shows no notifications of this page.</p>
  if (state === 'unknown') return null
  return (
    <p>
      <button type="button" class="link" onClick={ask}>
        Notify me when something waits
      </button>
    </p>
  )
}
