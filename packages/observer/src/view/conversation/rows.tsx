import { type LiveAnswer, resultText } from '@meup/folds'
import { type DecisionPayload, type Envelope, isThought, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import {
  type BatchRow,
  type CallRow,
  countText,
  type EndRow,
  getFullSize,
  type MessageRow,
  type MoreRow,
  type Row,
  type SaidRow,
  sizeText,
} from '../../model/index.js'
import { ElicitationCard } from '../decide/elicitation-card.js'
import { ProposalCard } from '../decide/proposal-card.js'
import { AllowButton } from '../participants/allow-button.js'
import { Markdown } from '../shared/markdown.js'
import { useOpened } from '../shared/opened.js'
import { Chip, Name, Said } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { WhyButton } from '../why/why-button.js'
import { CallDetails } from './call-details.js'
import { RunHeading } from './run-heading.js'
import { ThoughtActions } from './thought-box.js'

/** The content of a row, in any view. */
export function RowContent({ row }: { row: Row }): VNode {
  switch (row.type) {
    case 'message':
      return <MessageLine row={row} />
    case 'heading':
      return <RunHeading row={row} />
    case 'said':
      return <SaidLine row={row} />
    case 'call':
      return <CallLine row={row} />
    case 'batch':
      return <BatchLine row={row} />
    case 'proposal':
      return <ProposalCard row={row} />
    case 'end':
      return <EndLine row={row} />
    case 'more':
      return <MoreLine row={row} />
  }
}

/** An answer that is being written. It looks like its message, which comes to stand in its place. */
export const LiveAnswerLine = ({ answer: { to, text } }: { answer: LiveAnswer }): VNode => (
  <div class="message-text">
    <Addressees to={to} />
    <Markdown text={text} />
  </div>
)

/** Where a message has its time. */
export const BeingWritten = (): VNode => (
  <span class="time" role="img" title="being written" aria-label="being written">
    ✎
  </span>
)

const Addressees = ({ to }: { to: readonly string[] | undefined }): VNode | null =>
  to === undefined ? null : <Chip>to {to.join(', ')}</Chip>

function MessageLine({ row: { message, text, envelope } }: { row: MessageRow }): VNode {
  return (
    <div class={`message-text ${message.isTakenBack ? 'taken-back' : ''}`}>
      <Addressees to={message.source.to} />
      {message.format === 'markdown' ? <Markdown text={text} /> : <Said text={text} />}
      <FullSizeChip envelope={envelope} />
      {message.isTakenBack && <Chip>taken back</Chip>}
      {message.acknowledgedBy.length > 0 && <Chip>✓ {message.acknowledgedBy.join(', ')}</Chip>}
    </div>
  )
}

/** The way to what led to an answer. */
export const WhyOfAnswer = ({ envelope }: { envelope: Envelope }): VNode | null =>
  envelope.correlationId === undefined ? null : <WhyButton id={envelope.id} />

function SaidLine({ row }: { row: SaidRow }): VNode {
  const { name, text, tone, isByAnother, isLate, replyTo, envelope } = row
  return (
    <div class={`line ${tone} ${name === '' ? '' : 'typed'}`}>
      {tone === 'problem' && <span class="mark bad">⚠</span>}
      {isByAnother && <Name id={envelope.from} />}
      {replyTo !== null && <Chip>↳ {replyTo}</Chip>}
      {name !== '' && <b class="kind">{name}</b>}
      {text === null ? (
        <Chip kind="warn">withheld</Chip>
      ) : tone === 'event' ? (
        <Said text={text} />
      ) : (
        <Text text={text} of={envelope} />
      )}
      {isLate && <Chip>late</Chip>}
      {tone === 'problem' && <WhyButton id={envelope.id} />}
      {envelope.kind === Kind.systemDecision && <Allow decision={envelope} />}
      <FullSizeChip envelope={envelope} />
      {isThought(envelope.kind) && <ThoughtActions thought={envelope} />}
    </div>
  )
}

const Allow = ({ decision: { to, payload } }: { decision: Envelope }): VNode => (
  <AllowButton id={to?.[0] ?? ''} missing={(payload as Partial<DecisionPayload>).missing} />
)

/** A call on one line; a click opens it in its place. */
function CallLine({ row }: { row: CallRow }): VNode {
  const { tool, parameters, rationale, result, approvedBy, envelope } = row
  const { session } = useSpace()
  const [isOpen, toggle] = useOpened(row.key)
  if (row.isOpenElicitation && envelope.to?.includes(session.welcome?.you.id ?? '') === true)
    return <ElicitationCard envelope={envelope} />
  return (
    <div class={`call ${isOpen ? 'open' : ''}`}>
      <button
        type="button"
        class="line call-line"
        data-key-press="Enter"
        aria-expanded={isOpen}
        onClick={toggle}
      >
        <span class="mark" aria-hidden="true">
          {result === null ? '○' : result.outcome === 'error' ? '✕' : '●'}
        </span>
        <code class="tool">{tool}</code>
        {envelope.to !== undefined && <span class="dim">{envelope.to.join(', ')}</span>}
        {parameters !== '' && !isOpen && <code class="parameters">{parameters}</code>}
        {rationale !== null && !isOpen && <Said kind="rationale" text={rationale} />}
        {approvedBy !== null && <Chip kind="good">approved by {approvedBy}</Chip>}
        {result !== null && <span class={`outcome ${result.outcome}`}>→ {resultText(result)}</span>}
      </button>
      {isOpen && <CallDetails row={row} />}
    </div>
  )
}

/** Calls that were sent off together, side by side. */
function BatchLine({ row: { calls } }: { row: BatchRow }): VNode {
  return (
    <div class="batch">
      {calls.map((row) => (
        <div key={row.key} class="batched">
          <CallLine row={row} />
        </div>
      ))}
    </div>
  )
}

/** What was thought or concluded: Markdown, unless its author says that it is none. */
const Text = ({ text, of }: { text: string; of: Envelope }): VNode =>
  of.payload.format === 'plain' ? <Said text={text} /> : <Markdown text={text} />

const EndLine = ({ row: { text, isCancelled, envelope } }: { row: EndRow }): VNode => (
  <div class={`line end ${isCancelled ? 'cancelled' : ''}`}>
    <span class="mark" aria-hidden="true">
      {isCancelled ? '◼' : '✓'}
    </span>
    <Text text={text === '' ? (isCancelled ? 'stopped' : 'done') : text} of={envelope} />
  </div>
)

function MoreLine({ row: { context, count } }: { row: MoreRow }): VNode {
  const { open } = useSpace()
  return (
    <button type="button" class="more" onClick={() => open(context)}>
      {countText(count, 'earlier line')}
    </button>
  )
}

/** That only the beginning of something is shown, and the way to the rest. */
function FullSizeChip({ envelope }: { envelope: Envelope }): VNode | null {
  const { inspect } = useSpace()
  const size = getFullSize(envelope)
  if (size === undefined) return null
  return (
    <button type="button" class="chip link" onClick={() => inspect(envelope.id)}>
      {sizeText(size)} in all
    </button>
  )
}
