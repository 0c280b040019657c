import { GATEWAY } from '@meup/protocol'
import type { VNode } from 'preact'
import { useId } from 'preact/hooks'
import { areSameDay, dayText, type LogRow, questionText, type Slot, whenText } from '../../model/index.js'
import { findBlockPosition } from '../shared/block-position.js'
import { Avatar, memo, Name, Newer, Time } from '../shared/parts.js'
import { useRowActions } from '../shared/row-props.js'
import { useSpace } from '../shared/use-space.js'
import { type RowProps, type ViewProps, VirtualRows } from '../shared/virtual-rows.js'
import { LiveAnswerContent, MessageActions } from './message.js'
import { OutgoingMessages } from './outgoing.js'
import { RowContent } from './rows.js'

/** The conversation with its runs. Only rows near the visible part are in the document. */
export function Stream({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const { answers } = model
  const origins = answers.map(({ trigger }) => {
    const asked = model.log.get(trigger)
    return asked === undefined ? trigger : model.getOrigin(asked)
  })
  const last = model.lists.stream.slots.at(-1)?.origin
  return (
    <div class="stream">
      <VirtualRows
        list={model.lists.stream}
        current={current}
        component={StreamRow}
        group={{
          role: 'feed',
          'aria-label': 'Events of the space',
          'aria-busy': session.isLoading || model.isBehind,
        }}
        handle={handle}
        follow={(isFollowing) => model.follow(isFollowing)}
        next={origins[0]}
        under={[
          ...answers.map((answer, at) => (
            <article
              key={`${answer.from} ${answer.trigger}`}
              aria-label={answer.from}
              class={`row outer said-aloud ${findBlockPosition(at === 0 ? last : origins[at - 1], origins[at], origins[at + 1])}`}
              aria-live="off"
              aria-busy={true}
            >
              <Avatar id={answer.from} />
              <div class="content">
                <LiveAnswerContent answer={answer} />
              </div>
            </article>
          )),
          <OutgoingMessages key="outgoing" />,
        ]}
        over={(isFollowing, start, toEnd) => (
          <>
            {session.hasEarlier && start === 0 && (
              <button
                type="button"
                class="earlier"
                disabled={session.isLoading}
                onClick={() => {
                  session.loadEarlier().catch(reportError)
                }}
              >
                {session.isLoading ? 'Loading…' : 'Load earlier'}
              </button>
            )}
            {!isFollowing && <Newer count={model.unseen} toEnd={toEnd} />}
          </>
        )}
      />
    </div>
  )
}

/** Maximum interval between messages of one author that are grouped. */
const togetherMs = 5 * 60_000

/** Returns `true` if a message is grouped with the previous one: same author and readers, within `togetherMs`. */
function isFollowUp({ type, envelope }: LogRow, before: Slot | undefined): boolean {
  if (type !== 'message' || before?.type !== 'message') return false
  const { from, to, ts } = before.envelope
  const isSame = from === envelope.from && String(to) === String(envelope.to)
  return isSame && Date.parse(envelope.ts) - Date.parse(ts) < togetherMs
}

/** Whether a row is an event, which is drawn less prominently than speech. */
function isEvent(row: LogRow): boolean {
  if (row.type === 'said') return row.tone === 'event'
  return row.type === 'call' && !row.isOpenElicitation && row.envelope.payload.method !== 'tools/call'
}

/** A row of the stream. Rows of the same question share a card. */
const StreamRow = memo(({ row, index, count, isCurrent, isEntry, place }: RowProps): VNode => {
  const actions = useRowActions(row, isCurrent)
  const { model } = useSpace().session
  const { envelope, depth, type, origin } = row
  const asked = row.type === 'call' ? row.proposedBy : null
  const speaker = row.type === 'heading' ? row.owner : (asked ?? envelope.from)
  const isQuiet = speaker === GATEWAY || (depth === 0 && isEvent(row))
  const before = model.lists.stream.slots[index - 1]
  const goesOn = place !== 'start' && isFollowUp(row, before)
  const isPart = row.type === 'message' && !row.part.isFirst
  const hasSpeaker = depth === 0 && !isQuiet && !goesOn && !isPart
  const contentId = useId()
  const isContinued = (place === 'start' || place === 'alone') && origin !== envelope.id
  return (
    <article
      class={`row ${depth > 0 ? 'inner' : 'outer'} ${place} ${isQuiet ? 'quiet' : ''} ${type === 'message' ? 'said-aloud' : ''} ${goesOn ? 'goes-on' : ''}`}
      data-key={row.key}
      aria-label={speaker}
      aria-describedby={contentId}
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-current={isCurrent}
      tabIndex={isEntry ? 0 : -1}
      {...actions}
    >
      {!isPart && <Above row={row} index={index} />}
      {isContinued && origin !== undefined && <Continued origin={origin} />}
      {hasSpeaker ? <Avatar id={speaker} kind={type === 'heading' ? 'small' : ''} /> : <span />}
      <div class={`content depth-${Math.min(depth, 5)}`} id={contentId}>
        {hasSpeaker && type !== 'heading' && (
          <header class="byline">
            <Name id={speaker} />
            <Time ts={envelope.ts} />
          </header>
        )}
        {isQuiet && depth === 0 && speaker !== GATEWAY && <Name id={speaker} />}
        {row.type === 'message' && <MessageActions row={row} />}
        <RowContent row={row} />
        {isQuiet && depth === 0 && <Time ts={envelope.ts} />}
      </div>
    </article>
  )
})

/** Separators above a row: a new day, or the start of unread messages. */
function Above({ row: { key, depth, envelope }, index }: { row: LogRow; index: number }): VNode | null {
  const { session, unread, markRead } = useSpace()
  const { slots } = session.model.lists.stream
  let at = index - 1
  while (depth === 0 && at > 0 && (slots[at]?.depth ?? 0) > 0) at--
  const before = slots[at]?.envelope.ts
  const isOtherDay = depth === 0 && (before === undefined || !areSameDay(before, envelope.ts))
  const isUnread = unread?.key === key
  if (!isOtherDay && !isUnread) return null
  return (
    <div class="above">
      {isOtherDay && <p class="day">{dayText(envelope.ts)}</p>}
      {isUnread && (
        <p class="unread">
          <button type="button" class="link" onClick={markRead}>
            {unread.count} new since {whenText(unread.since)} — mark read (Esc)
          </button>
          <b>New</b>
        </p>
      )}
    </div>
  )
}

/** Link to the question that a row belongs to, if the row is not next to it. */
function Continued({ origin }: { origin: string }): VNode | null {
  const { session, inspect } = useSpace()
  const question = session.model.log.get(origin)
  if (question === undefined) return null
  return (
    <button type="button" class="link continued" onClick={() => inspect(origin)}>
      ↳ <bdi>{question.from}</bdi>: {questionText(question)}
    </button>
  )
}
