import { diffArrays } from 'diff'
import type { VNode } from 'preact'
import { countQuestion, getMessages, type LogRow, nameText, type QuestionGroup } from '../../model/index.js'
import { Name } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { listTotals, TraceText } from './trace-detail.js'

interface ComparisonProps {
  readonly pair: readonly [QuestionGroup, QuestionGroup]
  readonly close: () => void
}

/** Two questions side by side: totals, steps and messages, with differences marked. */
export function Comparison({ pair, close }: ComparisonProps): VNode {
  const { model } = useSpace().session
  const now = model.gatewayTime(Date.now())
  const totals = pair.map((question) => new Map(listTotals(countQuestion(question, model.lists), now)))
  const names = [...new Set(totals.flatMap((each) => [...each.keys()]))]
  const messages = pair.map(({ blocks }) => getMessages(blocks))
  return (
    <section class="comparison" aria-label="Comparison">
      <header>
        <h2>Side by side</h2>
        <button type="button" onClick={close}>
          Back to the steps
        </button>
      </header>
      <table>
        <thead>
          <tr>
            <td />
            {pair.map(({ key, blocks }) => (
              <th key={key} scope="col">
                <Name id={blocks[0]?.envelope.from ?? ''} /> #{blocks[0]?.envelope.seq}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const texts = totals.map((each) => each.get(name) ?? '–')
            return (
              <tr key={name} class={texts[0] === texts[1] ? '' : 'differs'}>
                <th scope="row">{name}</th>
                {texts.map((text, at) => (
                  <td key={at}>{text}</td>
                ))}
              </tr>
            )
          })}
          {alignSteps(pair).map((steps, index) => (
            <tr key={`step ${index}`} class={steps.includes(undefined) ? 'differs' : ''}>
              {index === 0 ? <th scope="row">steps</th> : <td />}
              {steps.map((step, at) => (
                <td key={at}>{step ?? <span class="dim">–</span>}</td>
              ))}
            </tr>
          ))}
          <tr>
            <td />
            {messages.map(({ question, answer }, at) => (
              <td key={at}>
                <TraceText title="Input" envelope={question} />
                <TraceText title="Output" envelope={answer} />
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </section>
  )
}

/** Maximum number of compared steps per question. */
const maxSteps = 1000

type Steps = readonly [one: string | undefined, other: string | undefined]

/** Aligns equal steps of two questions. A step is `undefined` for the question that lacks it. */
function alignSteps([one, other]: readonly [QuestionGroup, QuestionGroup]): readonly Steps[] {
  const parts = diffArrays(listSteps(one), listSteps(other))
  return parts.flatMap(({ value, added, removed }) =>
    value.map((step): Steps => [added ? undefined : step, removed ? undefined : step]),
  )
}

const listSteps = ({ list }: QuestionGroup): string[] =>
  list.slots.slice(0, maxSteps).map((slot) => `${'· '.repeat(slot.depth)}${describeStep(list.getRow(slot))}`)

function describeStep(row: LogRow): string {
  if (row.type === 'heading') return row.isNested ? 'sub-context' : `${row.owner} thinks`
  if (row.type !== 'call' && row.type !== 'proposal') return row.type
  const { verb, object } = row.summary
  const name = verb ?? nameText(row.type === 'call' ? row.tool : row.proposal.tool)
  const failed = row.type === 'call' && row.hasFailed ? ' ✕' : ''
  return `${row.type === 'proposal' ? 'asks for ' : ''}${name} ${object}${failed}`
}
