import { formatDuration } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import {
  countQuestion,
  getMessages,
  percentile,
  type QuestionGroup,
  questionText,
  type SpaceModel,
  type Totals,
  whenText,
} from '../../model/index.js'
import { useNow } from '../shared/hooks.js'
import { Name, SearchField } from '../shared/parts.js'
import { tableRoles } from '../shared/table-roles.js'
import { costText, countTokens, tokensText } from '../shared/totals-text.js'
import { useSpace } from '../shared/use-space.js'

interface Line {
  readonly key: string
  /** The question; if it is not loaded, the first loaded envelope that it caused. */
  readonly envelope: Envelope
  readonly totals: Totals
}

const sortings = {
  took: { label: 'Took', weigh: ({ from, to }: Totals, now: number) => (to ?? now) - from },
  tokens: { label: 'Tokens', weigh: countTokens },
  cost: { label: 'Cost', weigh: ({ cost = 0 }: Totals) => cost },
  errors: { label: 'Errors', weigh: ({ errors }: Totals) => errors },
} as const
type Sorting = keyof typeof sortings

interface QuestionTableProps {
  readonly questions: readonly QuestionGroup[]
  /** Key of the shown question. */
  readonly shown: string
  readonly choose: (key: string) => void
  /** Keys of the compared questions. */
  readonly compared: readonly string[]
  readonly compare: (key: string, isCompared: boolean) => void
}

/** Table of all questions with their time, tokens, cost and errors, newest first, and percentiles of the times above it. */
export function QuestionTable({ questions, shown, choose, compared, compare }: QuestionTableProps): VNode {
  const { model } = useSpace().session
  const [sorting, sort] = useState<Sorting | undefined>()
  const [sought, setSought] = useState('')
  const lines = questions.map((question) => toLine(question, model)).reverse()
  const isGoingOn = lines.some(({ totals }) => totals.to === undefined)
  const now = model.gatewayTime(useNow(isGoingOn))
  const found = sought === '' ? lines : lines.filter((line) => matches(line, sought.toLowerCase()))
  const { weigh } = sortings[sorting ?? 'took']
  const sorted =
    sorting === undefined
      ? found
      : [...found].sort((one, other) => weigh(other.totals, now) - weigh(one.totals, now))
  const times = found.flatMap(({ totals: { from, to } }) => (to === undefined ? [] : [to - from]))
  const columns = (Object.keys(sortings) as Sorting[]).filter(
    (each) => each !== 'cost' || lines.some(({ totals }) => totals.cost !== undefined),
  )
  return (
    <section class="question-table" aria-label="Questions">
      <header>
        <SearchField
          label="Find a question"
          placeholder="Find a question or a name…"
          value={sought}
          set={setSought}
        />
        <p class="dim">
          {found.length.toLocaleString('en')} of {lines.length.toLocaleString('en')}
          {times.length > 0 &&
            ([50, 95] as const).map((share) => (
              <span key={share} title={`${share} % took no longer`}>
                {' '}
                · p{share} {formatDuration(percentile(times, share / 100) ?? 0)}
              </span>
            ))}
        </p>
      </header>
      <div {...tableRoles.table('Questions', sorted.length + 1)} class={`of-${columns.length}`}>
        <div {...tableRoles.row(1)} class="question-line head">
          <span {...tableRoles.cell} />
          <span {...tableRoles.head(sorting === undefined)}>
            <button type="button" class="link" onClick={() => sort(undefined)}>
              Newest{sorting === undefined && ' ↓'}
            </button>
          </span>
          {columns.map((each) => (
            <span key={each} {...tableRoles.head(sorting === each)}>
              <button type="button" class="link" onClick={() => sort(each)}>
                {sortings[each].label}
                {sorting === each && '↓'}
              </button>
            </span>
          ))}
        </div>
        <Lines count={sorted.length}>
          {(index) => {
            const line = sorted[index]
            return (
              line && (
                <QuestionLine
                  key={line.key}
                  line={line}
                  index={index}
                  columns={columns}
                  now={now}
                  isShown={line.key === shown}
                  choose={choose}
                  isCompared={compared.includes(line.key)}
                  compare={compare}
                />
              )
            )
          }}
        </Lines>
      </div>
    </section>
  )
}

const toLine = (question: QuestionGroup, model: SpaceModel): Line => ({
  key: question.key,
  envelope: getBeginning(question, model),
  totals: countQuestion(question, model.lists),
})

function getBeginning({ key, blocks }: QuestionGroup, { log }: SpaceModel): Envelope {
  const envelope = log.get(key) ?? getMessages(blocks).question ?? blocks[0]?.envelope
  if (envelope === undefined) throw new Error(`question ${key} has no envelope`)
  return envelope
}

const texts = new WeakMap<Envelope, string>()

/** Text of a question on one line. */
function lineText(envelope: Envelope): string {
  const text = texts.get(envelope) ?? questionText(envelope)
  texts.set(envelope, text)
  return text
}

const matches = ({ envelope }: Line, sought: string): boolean =>
  envelope.from.toLowerCase().includes(sought) || lineText(envelope).toLowerCase().includes(sought)

/** Height of a line in pixels, as in the CSS, and number of lines drawn beyond the visible ones. */
const [linePx, overscan] = [44, 6]

/** A virtual list of lines: only those near the visible part are drawn. */
function Lines({
  count,
  children,
}: {
  count: number
  children: (index: number) => VNode | undefined
}): VNode {
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  const start = Math.max(Math.floor(seen.top / linePx) - overscan, 0)
  const end = Math.min(Math.ceil((seen.top + seen.height) / linePx) + overscan, count)
  return (
    <div
      {...tableRoles.group}
      class="question-lines"
      onScroll={({ currentTarget: { scrollTop, clientHeight } }) =>
        setSeen({ top: scrollTop, height: clientHeight })
      }
    >
      <div style={{ height: start * linePx }} />
      {Array.from({ length: Math.max(end - start, 0) }, (_, at) => children(start + at))}
      <div style={{ height: Math.max(count - end, 0) * linePx }} />
    </div>
  )
}

interface QuestionLineProps {
  readonly line: Line
  readonly index: number
  readonly columns: readonly Sorting[]
  readonly now: number
  readonly isShown: boolean
  readonly choose: (key: string) => void
  readonly isCompared: boolean
  readonly compare: (key: string, isCompared: boolean) => void
}

function QuestionLine(props: QuestionLineProps): VNode {
  const { line, index, columns, now, isShown, choose, isCompared, compare } = props
  const { key, envelope, totals } = line
  const text = lineText(envelope)
  return (
    <div {...tableRoles.row(index + 2)} class="question-line" aria-current={isShown ? 'location' : undefined}>
      <span {...tableRoles.cell}>
        <input
          type="checkbox"
          aria-label={`Compare: ${text}`}
          title="Compare with another one"
          checked={isCompared}
          onChange={(event) => compare(key, event.currentTarget.checked)}
        />
      </span>
      <span {...tableRoles.cell}>
        <button type="button" class="link" title={text} onClick={() => choose(key)}>
          <span class="question-text">{text}</span>
          <span class="question-by dim">
            <Name id={envelope.from} /> · {whenText(envelope.ts)}
          </span>
        </button>
      </span>
      {columns.map((each) => (
        <span key={each} {...tableRoles.cell} class={each === 'errors' && totals.errors > 0 ? 'bad' : ''}>
          {cellText(each, totals, now)}
        </span>
      ))}
    </div>
  )
}

function cellText(column: Sorting, totals: Totals, now: number): string {
  const { from, to, cost, errors } = totals
  switch (column) {
    case 'took':
      return `${formatDuration(Math.max((to ?? now) - from, 0))}${to === undefined ? '…' : ''}`
    case 'tokens':
      return tokensText(countTokens(totals))
    case 'cost':
      return cost === undefined ? '' : costText(cost)
    case 'errors':
      return errors === 0 ? '' : `✕ ${errors}`
  }
}
