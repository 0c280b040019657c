import { brief, formatDuration, isElicitation, onOneLine } from '@meup/folds'
import { createContext, type VNode } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import {
  getSpan,
  getText,
  type HeadingRow,
  type LogRow,
  listThoughts,
  nameText,
  type RowList,
  type TimeScale,
  timeScale,
} from '../../model/index.js'
import { RowContent } from '../conversation/rows.js'
import { useNow } from '../shared/hooks.js'
import { Name, Newer, UntrustedText } from '../shared/parts.js'
import { useTreeRow } from '../shared/row-props.js'
import { grid } from '../shared/table-roles.js'
import { useSpace } from '../shared/use-space.js'
import { type RowProps, type RowsHandle, VirtualRows } from '../shared/virtual-rows.js'
import { What as CallWhat } from '../shared/what.js'

interface TraceTreeProps {
  readonly list: RowList
  readonly current: string | undefined
  readonly handle: (handle: RowsHandle) => void
}

/** Contexts, calls and decisions of a question, on a time axis that starts with the question. */
export function TraceTree({ list, current, handle }: TraceTreeProps): VNode {
  const { model } = useSpace().session
  const { slots } = list
  const spans = useMemo(() => slots.flatMap((slot) => getSpan(list.getRow(slot)) ?? []), [list, list.version])
  const isGoingOn = spans.some(({ to }) => to === undefined)
  const now = model.gatewayTime(useNow(isGoingOn, 500))
  const scale = useMemo(() => {
    const start = spans.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY)
    const relative = spans.map(({ from, to }) => ({
      from: from - start,
      to: to === undefined ? to : to - start,
    }))
    return { ...timeScale(relative, now - start), start, now }
  }, [spans, isGoingOn && now])
  return (
    <section class="trace-tree" aria-label="Steps">
      <Legend />
      <div class="timed" {...grid.tree('Contexts and tool calls over time', slots.length + 1)}>
        <ScaleProvider value={scale}>
          <Axis />
          <div class="timed-rows">
            <VirtualRows
              list={list}
              current={current}
              component={TimedRow}
              group={grid.group}
              handle={handle}
              follow={(isFollowing) => model.follow(isFollowing)}
              over={(isFollowing, _, toEnd) =>
                isFollowing ? null : <Newer count={model.unseen} toEnd={toEnd} />
              }
            />
          </div>
        </ScaleProvider>
      </div>
    </section>
  )
}

/** Legend of the bars' colours. */
const Legend = (): VNode => (
  <p class="legend dim">
    {(Object.keys(barNames) as BarKind[]).map((kind) => (
      <span key={kind}>
        <i class={`bar ${kind}`} aria-hidden="true" /> {barNames[kind]}
      </span>
    ))}
    <span>
      <i class="thought-tick" aria-hidden="true" /> thought
    </span>
  </p>
)

/** A context, call or proposal, with a bar on the time axis. */
function TimedRow(props: RowProps): VNode {
  const { row } = props
  const tree = useTreeRow(props, 1)
  const { depth } = row
  return (
    <div class={`fall ${depth === 0 ? 'outer' : 'inner'}`} {...tree}>
      <div class={`what depth-${Math.min(depth, 5)}`} {...grid.cell}>
        <What row={row} />
      </div>
      <div class="times" {...grid.cell}>
        <Bar row={row} />
      </div>
      <div class="spent" {...grid.cell}>
        <Spent row={row} />
      </div>
    </div>
  )
}

function What({ row }: { row: LogRow }): VNode {
  const { choose } = useSpace()
  switch (row.type) {
    case 'heading': {
      const isOpen = row.level !== 'closed'
      return (
        <>
          <button
            type="button"
            class="fold"
            tabIndex={-1}
            aria-label={`${isOpen ? 'Fold' : 'Unfold'} what ${row.owner} does`}
            onClick={() => choose(row.context, isOpen ? 'closed' : 'all')}
          >
            {isOpen ? '▾' : '▸'}
          </button>
          {!row.isNested && <Name id={row.owner} />}
          <UntrustedText kind={row.isLive ? 'opening' : 'ending'} text={row.ending ?? row.opening ?? ''} />
        </>
      )
    }
    case 'call':
      return (
        <>
          <span class={`mark ${row.hasFailed ? 'bad' : ''}`} aria-hidden="true">
            {row.result === null ? '○' : row.hasFailed ? '✕' : '●'}
          </span>
          <CallWhat summary={row.summary} tool={row.tool} />
        </>
      )
    case 'proposal':
      return (
        <>
          <span class="mark warn" aria-hidden="true">
            ⚠
          </span>
          <CallWhat summary={row.summary} tool={nameText(row.proposal.tool)} />
          <span class="dim">
            {row.proposal.state === 'open' ? 'waits for a decision' : row.proposal.state}
          </span>
        </>
      )
    default:
      return <RowContent row={row} />
  }
}

function Bar({ row }: { row: LogRow }): VNode | null {
  const scale = useScale()
  const span = getSpan(row)
  if (span === undefined) return null
  const [left, right] = [scale.at(span.from - scale.start), scale.at((span.to ?? scale.now) - scale.start)]
  const style = { left: percent(left), width: percent(right - left) }
  return (
    <>
      <span class={`bar ${getBarKind(row)} ${span.to === undefined ? 'live' : ''}`} style={style} />
      {row.type === 'heading' && <ThoughtTicks row={row} />}
    </>
  )
}

const maxTickChars = 160

/** Marks on a context's bar, at the times of its thoughts. */
function ThoughtTicks({ row }: { row: HeadingRow }): VNode {
  const { log } = useSpace().session.model
  const scale = useScale()
  const thoughts = useMemo(() => listThoughts(log, row), [row])
  return (
    <>
      {thoughts.map((thought) => (
        <i
          key={thought.id}
          class="thought-tick"
          style={{ left: percent(scale.at(Date.parse(thought.ts) - scale.start)) }}
          title={brief(onOneLine(getText(thought)), maxTickChars)}
        />
      ))}
    </>
  )
}

/** Duration of a row, next to its bar. */
function Spent({ row }: { row: LogRow }): VNode | null {
  const { now } = useScale()
  const span = getSpan(row)
  if (span === undefined) return null
  const text = formatDuration((span.to ?? now) - span.from)
  return (
    <>
      {span.to === undefined ? `${text}…` : text}
      <span class="unseen"> {barNames[getBarKind(row)]}</span>
    </>
  )
}

/** Meanings of the bars' colours, for the legend and for screen readers. */
const barNames = {
  think: 'thinks',
  call: 'calls',
  wait: 'waits for a person',
  stopped: 'was stopped',
  failed: 'failed',
} as const
type BarKind = keyof typeof barNames

function getBarKind(row: LogRow): BarKind {
  if (row.type === 'heading') return row.state === 'cancelled' ? 'stopped' : 'think'
  if (row.type === 'proposal' || isElicitation(row.envelope.payload)) return 'wait'
  return row.type === 'call' && row.hasFailed ? 'failed' : 'call'
}

/** The time axis, in ms from `start`. `start` and `now` are gateway time. */
interface Scale extends TimeScale {
  readonly start: number
  readonly now: number
}

const ScaleContext = createContext<Scale>({ ...timeScale([], 0), start: 0, now: 0 })
const ScaleProvider = ScaleContext.Provider
const useScale = (): Scale => useContext(ScaleContext)

/** A fraction as CSS percentage. */
const percent = (part: number): string => `${(part * 100).toFixed(2)}%`

/** Header of the tree: column titles and time axis. */
function Axis(): VNode {
  const { ticks, pauses } = useScale()
  return (
    <div {...grid.group} class="axis">
      <div {...grid.headRow} class="axis-row">
        <span {...grid.head('What')}>What</span>
        <span {...grid.head('When')} class="times">
          {ticks.map(({ at, ms }) => (
            <span key={ms} class="tick" style={{ left: percent(at) }}>
              {ms === 0 ? '0' : formatDuration(ms)}
            </span>
          ))}
          {pauses.map(({ from, to, ms }) => (
            <span
              key={from}
              class="pause"
              style={{ left: percent(from), width: percent(to - from) }}
              title={`Nothing for ${formatDuration(ms)}`}
            >
              ⋯
            </span>
          ))}
        </span>
        <span {...grid.head('How long')} class="spent">
          took
        </span>
      </div>
    </div>
  )
}
