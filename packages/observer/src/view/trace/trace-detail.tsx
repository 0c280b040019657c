import { formatDuration, readRunUsage } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { ComponentChildren, VNode } from 'preact'
import {
  type CallRow,
  countQuestion,
  getMessages,
  getText,
  type HeadingRow,
  type LogRow,
  listThoughts,
  nameText,
  type QuestionGroup,
  type Totals,
} from '../../model/index.js'
import { CallDetails } from '../conversation/call-details.js'
import { RowContent } from '../conversation/rows.js'
import { ProposalCard } from '../decide/proposal-card.js'
import { Facts } from '../shared/facts.js'
import { useNow } from '../shared/hooks.js'
import { Markdown } from '../shared/markdown.js'
import { Name } from '../shared/parts.js'
import { costText } from '../shared/totals-text.js'
import { useSpace } from '../shared/use-space.js'
import { What } from '../shared/what.js'
import { WhyButton } from '../why/why-button.js'

/** Input and result of the chosen step; without one, of the question. */
export function TraceDetail({ question, row }: { question: QuestionGroup; row: LogRow | undefined }): VNode {
  return (
    <section class="trace-detail" aria-label="Detail" key={row?.key ?? question.key}>
      {row === undefined ? <QuestionDetail question={question} /> : <RowDetail row={row} />}
    </section>
  )
}

function RowDetail({ row }: { row: LogRow }): VNode {
  switch (row.type) {
    case 'heading':
      return <RunDetail row={row} />
    case 'call':
      return <CallDetail row={row} />
    case 'proposal':
      return (
        <>
          <Title envelope={row.envelope}>Decision</Title>
          <ProposalCard row={row} />
        </>
      )
    default:
      return <RowContent row={row} />
  }
}

/** Title of the detail, with links to the envelope and its explanation. */
function Title({ envelope, children }: { envelope: Envelope; children: ComponentChildren }): VNode {
  const { inspect } = useSpace()
  return (
    <header>
      <h2>{children}</h2>
      <WhyButton id={envelope.id} />
      <button type="button" class="link" title="Envelope (Enter)" onClick={() => inspect(envelope.id)}>
        #{envelope.seq}
      </button>
    </header>
  )
}

function CallDetail({ row }: { row: CallRow }): VNode {
  return (
    <>
      <Title envelope={row.envelope}>
        <What summary={row.summary} tool={row.tool} />
      </Title>
      <CallDetails row={row} />
    </>
  )
}

function RunDetail({ row }: { row: HeadingRow }): VNode {
  const { session } = useSpace()
  const { model } = session
  const now = useNow(row.isLive)
  const start = model.log.get(row.envelope.id) ?? row.envelope
  const asked = model.log.get([start.correlationId].flat()[0] ?? '')
  const end = row.end === null ? undefined : model.log.get(row.end)
  const answer = row.answer === null ? undefined : model.log.get(row.answer)
  const usage = readRunUsage(end?.payload.metadata)
  const thoughts = listThoughts(model.log, row)
  return (
    <>
      <Title envelope={row.envelope}>
        <Name id={row.owner} />
      </Title>
      <TotalsList
        totals={{
          ...usage,
          from: Date.parse(row.startedAt),
          to: row.isLive ? undefined : Date.parse(row.startedAt) + (row.duration ?? 0),
          models: usage.model === undefined ? [] : [usage.model],
        }}
        now={model.gatewayTime(now)}
      />
      <TraceText title="Input" envelope={asked ?? start} />
      <TraceText title="Output" envelope={answer ?? end} />
      {thoughts.length > 0 && (
        <details>
          <summary>{thoughts.length} thoughts</summary>
          {thoughts.map((thought) => (
            <Markdown key={thought.id} text={getText(thought)} />
          ))}
        </details>
      )}
    </>
  )
}

function QuestionDetail({ question }: { question: QuestionGroup }): VNode {
  const { model } = useSpace().session
  const totals = countQuestion(question, model.lists)
  const now = useNow(totals.to === undefined)
  const { question: asked, answer } = getMessages(question.blocks)
  const [first] = question.blocks
  return (
    <>
      {first !== undefined && (
        <Title envelope={first.envelope}>
          <Name id={first.envelope.from} /> asks
        </Title>
      )}
      <TotalsList totals={totals} now={model.gatewayTime(now)} />
      <TraceText title="Input" envelope={asked} />
      <TraceText title="Output" envelope={answer} />
    </>
  )
}

/** A message with a title. */
export function TraceText({
  title,
  envelope,
}: {
  title: string
  envelope: Envelope | undefined
}): VNode | null {
  const text = envelope === undefined ? '' : getText(envelope)
  if (text === '') return null
  return (
    <section>
      <h3>{title}</h3>
      <Markdown text={text} />
    </section>
  )
}

type Shown = Pick<Totals, 'from' | 'to' | 'tokens' | 'cost' | 'models'> & Partial<Totals>

const count = (number = 0): string => (number === 0 ? '' : number.toLocaleString('en'))

/** Lists the known totals of a question (time, models, tokens, cost, calls, errors) as pairs of name and text. */
export function listTotals(totals: Shown, now: number): readonly (readonly [name: string, text: string])[] {
  const { from, to, tokens, cost, models, calls = 0, errors = 0 } = totals
  const all = [
    ['took', `${formatDuration(Math.max((to ?? now) - from, 0))}${to === undefined ? '…' : ''}`],
    ['model', models.map(nameText).join(', ')],
    ['tokens in', count(tokens.input)],
    ['of these cached', count(tokens.cached)],
    ['tokens out', count(tokens.output)],
    ['of these thought', count(tokens.reasoning)],
    ['cost', cost === undefined ? '' : costText(cost)],
    ['calls', count(calls)],
    ['errors', count(errors)],
  ] as const
  return all.filter(([, text]) => text !== '')
}

const TotalsList = ({ totals, now }: { totals: Shown; now: number }): VNode => (
  <Facts of={listTotals(totals, now)} />
)
