import { printable, reasonText } from '@meup/folds'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { describeCard, nameText, splitTarget, type Waiting } from '../../model/index.js'
import { SettingsView } from '../shared/content.js'
import { DiffView } from '../shared/diff-view.js'
import { useSeenToEnd } from '../shared/hooks.js'
import { Checkbox, End, Name, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { Marks, readCall } from './proposal-card.js'

interface GroupReviewProps {
  /** Proposals of one participant for the same tool, the riskiest first. */
  readonly list: readonly Waiting[]
  readonly done: () => void
}

/** Maximum number of calls shown together. */
const maxListed = 200

/**
 * Decides several proposals of one participant for one tool together. Approving requires that the reader has scrolled through
 * every picked call, shown in full, and has typed their number if one is destructive. Calls that are too long must be left out.
 * `held` delays the decision, so that it can be undone, and sends the message only with a rejection.
 */
export function GroupReview({ list, done }: GroupReviewProps): VNode {
  const { session, isLive } = useSpace()
  const { model, held, seen } = session
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  const [typed, setTyped] = useState('')
  const [message, setMessage] = useState('')
  const number = useRef<HTMLInputElement>(null)
  const calls = list.slice(0, maxListed).flatMap((waiting) => {
    const envelope = model.log.get(waiting.proposal.id)
    return envelope === undefined
      ? []
      : [
          {
            ...waiting,
            id: envelope.id,
            envelope,
            card: describeCard(envelope.payload, readCall(session, envelope), false),
          },
        ]
  })
  const whole = calls.filter(({ card }) => !card.isCut)
  const see = (): void => {
    const added = whole.flatMap(({ id, card }) => card.needed.map((part) => seen.add(id, part, card.chars)))
    if (added.includes(true)) session.onChange()
    number.current?.focus()
  }
  const box = useSeenToEnd<HTMLDivElement>(whole.map(({ id, card }) => `${id} ${card.chars}`).join(), see)
  useEffect(() => box.current?.focus(), [])
  const picked = calls.filter(({ id }) => !leftOut.has(id))
  const approvable = picked.filter(({ card, id }) => !card.isCut && seen.hasAll(id, card.needed, card.chars))
  const isSeen = approvable.length === picked.length
  const count = picked.length
  const isDestructive = picked.some(({ risk }) => risk.level === 'destructive')
  const isMeant = !isDestructive || typed.trim() === `${count}`
  const [first] = list
  const { source, tool } = first?.proposal ?? {}
  const decide = (isApproval: boolean): void => {
    if (count === 0 || !isLive || (isApproval && !(isSeen && isMeant))) return
    const label = `${count} ${nameText(tool ?? '')} ${isApproval ? 'approved' : 'rejected'}`
    held.hold({ ids: picked.map(({ id }) => id), isApproval, label, message: message.trim() })
    done()
  }
  const reasons = new Set(calls.map(({ proposal }) => reasonText(proposal.rationale)))
  const [reason] = reasons.size === 1 ? reasons : []
  return (
    <form
      class="group-review"
      aria-label={`${source?.from} proposes ${nameText(tool ?? '')} ${list.length} times`}
      onSubmit={(event) => {
        event.preventDefault()
        decide(true)
      }}
    >
      <h3>
        <Name id={source?.from ?? ''} /> wants to use <code class="tool">{nameText(tool ?? '')}</code>{' '}
        {list.length} times
      </h3>
      {reason !== undefined && <UntrustedText kind="reason" text={printable(reason)} />}
      <Marks marks={first?.marks ?? []} risk={first?.risk} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it. */}
      <section class="calls" tabIndex={0} ref={box} aria-label="Calls to decide">
        {calls.map(({ id, envelope, proposal, card }) => (
          <div key={id} class="decided-call">
            <Checkbox
              checked={!leftOut.has(id)}
              set={(isPicked) =>
                setLeftOut(new Set(isPicked ? [...leftOut].filter((each) => each !== id) : [...leftOut, id]))
              }
            >
              <code>{card.change?.sentence ?? splitTarget(envelope).join('')}</code>
            </Checkbox>
            {reason === undefined && (
              <UntrustedText kind="reason" text={printable(reasonText(proposal.rationale))} />
            )}
            {card.change !== undefined && card.change.lines.length > 0 && (
              <DiffView lines={card.change.lines} path={card.change.name} />
            )}
            {card.settings !== undefined && <SettingsView list={card.settings} />}
            {card.needed.includes('exact') && <pre class="exact">{card.exact}</pre>}
            {card.isCut && <p class="warn">It is too long to be approved with others: leave it out.</p>}
          </div>
        ))}
        <End />
      </section>
      {list.length > calls.length && (
        <p class="dim">
          The first {calls.length} of {list.length}.
        </p>
      )}
      <div class="decision">
        <input
          aria-label="Why not, for all of them"
          placeholder="Why not? (for everyone to read)"
          maxLength={1000}
          value={message}
          onInput={(event) => setMessage(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter in the rejection's text field must not submit the approval.
            if (event.key === 'Enter') event.preventDefault()
          }}
        />
        <button type="button" class="bad" disabled={!isLive || count === 0} onClick={() => decide(false)}>
          Reject {count}
        </button>
        {isDestructive && (
          <input
            ref={number}
            class="number"
            aria-label={`Type ${count} to approve them`}
            placeholder={`Type ${count}`}
            inputMode="numeric"
            size={8}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <button
          type="submit"
          class={isDestructive ? '' : 'primary'}
          disabled={!isLive || count === 0 || !isSeen || !isMeant}
        >
          Approve {count}
          {isDestructive ? ' anyway' : ''}
        </button>
        {!isSeen && (
          <span class="dim" role="status">
            {picked.some(({ card }) => card.isCut)
              ? 'Leave out the calls that are too long.'
              : 'Scroll to the end of what is sent to approve it.'}
          </span>
        )}
      </div>
    </form>
  )
}
