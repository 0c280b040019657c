import type { LiveAnswer } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { type MessageRow, writeRoute } from '../../model/index.js'
import { Markdown, PlainText } from '../shared/markdown.js'
import { Chip, CopyButton } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { WhyButton } from '../why/why-button.js'
import { Asked } from './asked.js'

/** What somebody says, or one part of it. */
export function MessageText({ row: { message, text, part, envelope } }: { row: MessageRow }): VNode {
  const { isTakenBack, acknowledgedBy } = message
  const hasMarks = part.isLast && (isTakenBack || acknowledgedBy.length > 0)
  return (
    <div class={`message-text ${isTakenBack ? 'taken-back' : ''}`}>
      {part.isFirst && <Asked to={message.source.to} mentions={getMentions(envelope)} text={text} />}
      {useIsMarkdown(envelope) ? <Markdown text={part.text} of={text} /> : <PlainText text={part.text} />}
      {hasMarks && (
        <p>
          {isTakenBack && <Chip>taken back</Chip>}
          {acknowledgedBy.length > 0 && <Chip>✓ {acknowledgedBy.join(', ')}</Chip>}
        </p>
      )}
    </div>
  )
}

/** What people write is Markdown too, unless they say that it is none. */
function useIsMarkdown({ from, payload }: Envelope): boolean {
  const { members } = useSpace().session.model
  return (payload.format ?? (members.isHuman(from) ? 'markdown' : 'plain')) === 'markdown'
}

/** An answer that is being written. It looks like its message, which comes to stand in its place. */
export const LiveAnswerText = ({ answer: { to, text } }: { answer: LiveAnswer }): VNode => (
  <div class="message-text">
    <Asked to={to} mentions={[]} text={text} />
    <Markdown text={text} />
  </div>
)

/** Where a message has its time. */
export const BeingWritten = (): VNode => (
  <span class="time" role="img" title="being written" aria-label="being written">
    ✎
  </span>
)

const getMentions = ({ payload: { mentions } }: Envelope): readonly string[] =>
  Array.isArray(mentions) ? mentions.filter((id) => typeof id === 'string') : []

/** The way to what led to an answer. */
export const WhyOfAnswer = ({ envelope }: { envelope: Envelope }): VNode | null =>
  envelope.correlationId === undefined ? null : <WhyButton id={envelope.id} />

/** What can be done with a message; it shows over the row that the pointer or the keys are at. */
export function MessageActions({ row: { text, message, envelope } }: { row: MessageRow }): VNode {
  const { session, isLive, can, act, inspect } = useSpace()
  const { id, from, to } = envelope
  const { space } = session.place
  const cancel = { kind: Kind.chatCancel, correlationId: id, payload: {}, ...(to && { to }) }
  const isOwn = from === session.welcome?.you.id
  return (
    <div class="toolbar">
      <CopyButton text={text} what="the message" />
      <CopyButton
        text={new URL(writeRoute({ space, seq: envelope.seq ?? 0 }), location.href).href}
        what="a link to it"
        label="link"
      />
      <WhyOfAnswer envelope={envelope} />
      {isOwn && !message.isTakenBack && can(cancel) && (
        <button
          type="button"
          class="link"
          disabled={!isLive}
          onClick={() => act('It was not taken back', async () => session.client?.send(cancel))}
        >
          take back
        </button>
      )}
      <button
        type="button"
        class="link"
        aria-label="Envelope"
        title="Envelope (Enter)"
        onClick={() => inspect(id)}
      >
        ⋯
      </button>
    </div>
  )
}
