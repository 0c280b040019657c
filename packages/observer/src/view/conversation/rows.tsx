// Draws one row of `model/rows/`, in the stream, in lanes and in the detail of a trace.
import { formatDuration } from '@meup/folds'
import { type DecisionPayload, type Envelope, isThought, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import {
  type BatchRow,
  type CallRow,
  countText,
  type EndRow,
  getFullSize,
  type LogRow,
  type MoreRow,
  type SaidRow,
  sizeText,
  splitText,
} from '../../model/index.js'
import { AllowButton } from '../participants/allow-button.js'
import { lazy } from '../shared/lazy.js'
import { Markdown } from '../shared/markdown.js'
import { useOpened } from '../shared/opened.js'
import { Chip, Name, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { What } from '../shared/what.js'
import { WhyButton } from '../why/why-button.js'
import { MessageText } from './message.js'
import { RunHeading } from './run-heading.js'

const ThoughtActions = lazy(() => import('./thought-box.js').then(({ ThoughtActions }) => ThoughtActions))
const CallDetails = lazy(() => import('./call-details.js').then(({ CallDetails }) => CallDetails))
const ProposalCard = lazy(() => import('../decide/proposal-card.js').then(({ ProposalCard }) => ProposalCard))
const ElicitationCard = lazy(() =>
  import('../decide/elicitation-card.js').then(({ ElicitationCard }) => ElicitationCard),
)

/** The content of a row, in any view. */
export function RowContent({ row }: { row: LogRow }): VNode {
  switch (row.type) {
    case 'message':
      return <MessageText row={row} />
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
        <UntrustedText text={text} />
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

/** A call on one line; a click shows its details below. */
function CallLine({ row }: { row: CallRow }): VNode {
  const { approvedBy, envelope, result, hasFailed, size, answeredAt } = row
  const { session } = useSpace()
  const [isOpen, toggle] = useOpened(row.key)
  if (row.isOpenElicitation && envelope.to?.includes(session.welcome?.you.id ?? '') === true)
    return <ElicitationCard envelope={envelope} />
  const spent = answeredAt === null ? '…' : formatDuration(Date.parse(answeredAt) - Date.parse(envelope.ts))
  return (
    <div class={`call ${isOpen ? 'open' : ''}`}>
      <button
        type="button"
        class="call-line"
        data-key-press="Enter"
        aria-expanded={isOpen}
        title={[row.tool, envelope.to && `of ${envelope.to.join(', ')}`, row.parameters]
          .filter(Boolean)
          .join(' ')}
        onClick={toggle}
      >
        <span class="line">
          <span class={`mark ${hasFailed ? 'bad' : ''}`} aria-hidden="true">
            {result === null ? '○' : hasFailed ? '✕' : '●'}
          </span>
          <What summary={row.summary} tool={row.tool} isBrief={isOpen} />
          {approvedBy !== null && <span class="approved">— approved by {approvedBy}</span>}
          <span class="call-size">{[size, spent].filter(Boolean).join(' · ')}</span>
        </span>
        {!isOpen && <CallMore row={row} />}
      </button>
      {isOpen && <CallDetails row={row} />}
    </div>
  )
}

/** Maximum lines of a command's output. */
const maxOutputLines = 3

/** Second line of a call: failure, reason, or beginning of the output. */
function CallMore({
  row: { result, exitCode, hasFailed, rationale, summary },
}: {
  row: CallRow
}): VNode | null {
  const written = result?.text.trimEnd() ?? ''
  const [firstLine = ''] = written.split('\n', 1)
  if (hasFailed) {
    const failure = [exitCode ? `exit ${exitCode}` : '', firstLine].filter(Boolean).join(': ')
    return <More kind="bad" text={failure || 'failed'} />
  }
  if (rationale !== null) return <More kind="rationale" text={rationale} />
  const output = summary.sort === 'run' ? written.split('\n', maxOutputLines).join('\n') : ''
  return output === '' ? null : <More kind="output" text={output} />
}

const More = ({ kind, text }: { kind: string; text: string }): VNode => (
  <span class={`call-more ${kind}`}>
    <UntrustedText text={text} />
  </span>
)

/** Calls that were sent together, shown side by side. */
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

/** A thought or conclusion, as Markdown unless its format says otherwise; a long text is truncated at first. */
function Text({ text, of }: { text: string; of: Envelope }): VNode {
  const [isWhole, toggle] = useOpened(`text ${of.id}`)
  const [beginning = ''] = useMemo(() => splitText(text), [text])
  const shown = isWhole ? text : beginning
  return (
    <>
      {of.payload.format === 'plain' ? <UntrustedText text={shown} /> : <Markdown text={shown} of={text} />}
      {shown.length < text.length && (
        <button type="button" class="more" onClick={toggle}>
          Show all {sizeText(text.length)}
        </button>
      )}
    </>
  )
}

const EndLine = ({ row: { text, isCancelled, envelope } }: { row: EndRow }): VNode => (
  <div class={`line end ${isCancelled ? 'cancelled' : ''}`}>
    <span class="mark" aria-hidden="true">
      {isCancelled ? '◼' : '✓'}
    </span>
    <Text text={text === '' ? (isCancelled ? 'stopped' : 'done') : text} of={envelope} />
  </div>
)

function MoreLine({ row: { context, count } }: { row: MoreRow }): VNode {
  const { choose } = useSpace()
  return (
    <button type="button" class="more" onClick={() => choose(context, 'all')}>
      {countText(count, 'earlier line')}
    </button>
  )
}

/** Marks an envelope that this page has truncated; opens the complete one. */
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
