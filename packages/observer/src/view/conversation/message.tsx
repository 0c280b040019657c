import type { LiveAnswer } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { dropHalfLink, type Log, type MessageRow, nameText, toggled, writeRoute } from '../../model/index.js'
import { Markdown, PlainText } from '../shared/markdown.js'
import { Chip, CopyButton, Name } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { WhyButton } from '../why/why-button.js'
import { toCancel } from '../write/cancel-message.js'
import { Asked } from './asked.js'

/** The text of a message, or of one part of it. */
export function MessageText({ row: { message, text, part, envelope } }: { row: MessageRow }): VNode {
  const { isTakenBack, acknowledgedBy } = message
  const { noAnswer } = envelope.payload
  const hasFailed = typeof noAnswer === 'string'
  const hasMarks = part.isLast && (isTakenBack || hasFailed || acknowledgedBy.length > 0)
  return (
    <div class={`message-text ${isTakenBack ? 'taken-back' : ''}`}>
      {part.isFirst && <Asked to={message.source.to} mentions={getMentions(envelope)} text={text} />}
      {useIsMarkdown(envelope) ? <Markdown text={part.text} of={text} /> : <PlainText text={part.text} />}
      {hasMarks && (
        <p>
          {isTakenBack && <Chip>taken back</Chip>}
          {hasFailed && <Chip kind="warn">no answer: {nameText(noAnswer)}</Chip>}
          {acknowledgedBy.length > 0 && <Chip>✓ {acknowledgedBy.join(', ')}</Chip>}
        </p>
      )}
    </div>
  )
}

/** Whether a message is Markdown: by its format; without one, if a person wrote it. */
function useIsMarkdown({ from, payload }: Envelope): boolean {
  const { members } = useSpace().session.model
  return (payload.format ?? (members.roleOf(from) === 'person' ? 'markdown' : 'plain')) === 'markdown'
}

/** An unfinished answer. It is rendered as Markdown, because its format is not known before it is complete. */
export const LiveAnswerContent = ({ answer: { from, to, text } }: { answer: LiveAnswer }): VNode => (
  <>
    <header class="byline">
      <Name id={from} />
      <span class="time" role="img" title="being written" aria-label="being written">
        ✎
      </span>
    </header>
    <div class="message-text">
      <Asked to={to} mentions={[]} text={text} />
      <Markdown text={dropHalfLink(text)} />
    </div>
  </>
)

const getMentions = ({ payload: { mentions } }: Envelope): readonly string[] =>
  Array.isArray(mentions) ? mentions.filter((id) => typeof id === 'string') : []

/** Button that explains how an answer came about. */
export const WhyOfAnswer = ({ envelope }: { envelope: Envelope }): VNode | null =>
  envelope.correlationId === undefined ? null : <WhyButton id={envelope.id} />

/** Actions on a message, shown when the row is hovered or focused. */
export function MessageActions({ row: { text, envelope } }: { row: MessageRow }): VNode {
  const { session, can, composer } = useSpace()
  const { space } = session.place
  return (
    <div class="toolbar">
      <CopyButton text={text} what="the message" />
      <CopyButton
        text={new URL(writeRoute({ space, seq: envelope.seq ?? 0 }), location.href).href}
        what="a link to it"
        label="link"
      />
      {can({ kind: Kind.chat, payload: { message: '' } }) && (
        <button type="button" class="link" onClick={() => composer.current?.reply(envelope)}>
          reply
        </button>
      )}
      <WhyOfAnswer envelope={envelope} />
      <MoreActions envelope={envelope} />
    </div>
  )
}

/** A menu with rarely used actions on a message. */
function MoreActions({ envelope }: { envelope: Envelope }): VNode {
  const { session, isLive, can, act, inspect, viewFilter } = useSpace()
  const [isOpen, open] = useState(false)
  const { cut } = session.subscription
  const run = isOpen ? findRun(session.model.log, envelope) : undefined
  const cancel = toCancel(envelope)
  const isOwn = envelope.from === session.welcome?.you.id
  const isTakenBack = session.model.log
    .answersTo(envelope.id)
    .some((id) => session.model.log.get(id)?.kind === Kind.chatCancel)
  const item = (label: string, work: () => void): VNode => (
    <button
      type="button"
      role="menuitem"
      class="link"
      onClick={() => {
        open(false)
        work()
      }}
    >
      {label}
    </button>
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only closes what its button opens.
    <span
      class="more-actions"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) open(false)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        event.stopPropagation()
        open(false)
      }}
    >
      <button
        type="button"
        class="link"
        aria-label="More"
        title="More"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => open(!isOpen)}
      >
        ⋯
      </button>
      {isOpen && (
        <div class="menu" role="menu">
          {item('Envelope', () => inspect(envelope.id))}
          {isOwn &&
            !isTakenBack &&
            isLive &&
            can(cancel) &&
            item('Take back', () => act('It was not taken back', async () => session.client?.send(cancel)))}
          {run !== undefined &&
            isLive &&
            item(cut.contexts.includes(run) ? 'Unmute its run' : 'Mute its run', () =>
              viewFilter.cut({ ...cut, contexts: toggled(cut.contexts, run) }),
            )}
        </div>
      )}
    </span>
  )
}

/** The run that led to an answer; `undefined` if it is not loaded. */
const findRun = (log: Log, answer: Envelope): string | undefined =>
  correlations(answer)
    .flatMap((id) => log.answersTo(id).map((each) => log.get(each)))
    .findLast((each) => each?.kind === Kind.reasoningStart && each.from === answer.from)?.id
