import { formatDuration } from '@meup/folds'
import { createContext, type VNode } from 'preact'
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  getSpan,
  nameText,
  type Question,
  questionText,
  type Row,
  type RowList,
  type TimeScale,
  timeScale,
  whenText,
} from '../../model/index.js'
import { ProposalCard } from '../decide/proposal-card.js'
import { useNow } from '../shared/hooks.js'
import { Name, Newer, Said } from '../shared/parts.js'
import { grid, useTreeRow } from '../shared/row-props.js'
import { useSpace } from '../shared/use-space.js'
import { type RowProps, type RowsHandle, type ViewProps, VirtualRows } from '../shared/virtual-rows.js'
import { What as CallWhat } from '../shared/what.js'
import { RowContent } from './rows.js'

/** What one question has led to, contexts and tool calls, on a time axis that begins with it. */
export function Waterfall({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const { waterfalls } = model.lists
  /** `undefined` = the latest, whichever that is. */
  const [chosen, choose] = useState(() => {
    const envelope = current === undefined ? undefined : model.log.get(current)
    return envelope && model.getOrigin(envelope)
  })
  const rows = useRef<RowsHandle | undefined>(undefined)
  /** An envelope that is looked for in a waterfall that is not drawn yet. */
  const wanted = useRef<string | undefined>(undefined)
  const found = waterfalls.findIndex(({ key }) => key === chosen)
  const index = found === -1 ? waterfalls.length - 1 : found
  const question = waterfalls[index]
  useEffect(() => () => model.lists.drop('waterfalls'), [model])
  useLayoutEffect(() => {
    handle({
      get list() {
        return rows.current?.list ?? model.lists.stream
      },
      toEnd() {
        choose(undefined)
        rows.current?.toEnd()
      },
      focus: (at) => rows.current?.focus(at),
      reveal(id, how) {
        const envelope = model.log.get(id)
        const origin = envelope && model.getOrigin(envelope)
        const other = waterfalls.find(({ key }) => key === origin)
        if (other === undefined || other === question) return rows.current?.reveal(id, how)
        choose(origin)
        wanted.current = id
        return other.list.slots[other.list.indexOf(id)]?.key
      },
    })
    if (wanted.current !== undefined && question?.list.indexOf(wanted.current) !== -1) {
      rows.current?.reveal(wanted.current)
      wanted.current = undefined
    }
  })
  if (question === undefined) return <p class="empty dim">Nobody has thought or called a tool yet.</p>
  return (
    <div class="waterfall">
      <Questions all={waterfalls} index={index} choose={choose} />
      <Timed
        key={question.key}
        list={question.list}
        current={current}
        handle={(next) => {
          rows.current = next
        }}
      />
    </div>
  )
}

/** So many of the latest questions are offered to choose from; the arrows lead to all. */
const maxOffered = 100

interface QuestionsProps {
  readonly all: readonly Question[]
  /** Of the one that is shown. */
  readonly index: number
  /** `undefined` = the latest, whichever that is. */
  readonly choose: (key: string | undefined) => void
}

/** Which question it is, and the way to others. */
function Questions({ all, index, choose }: QuestionsProps): VNode {
  const { model } = useSpace().session
  const go = (to: number): void => choose(to === all.length - 1 ? undefined : all[to]?.key)
  const offered = all
    .slice(-maxOffered)
    .map(({ key }, at) => ({ key, at: at + Math.max(all.length - maxOffered, 0) }))
  const label = (key: string): string => {
    const began = model.log.get(key)
    return began === undefined ? nameText(key) : `${whenText(began.ts)} ${began.from}: ${questionText(began)}`
  }
  return (
    <div class="questions">
      <button type="button" aria-label="Question before" disabled={index === 0} onClick={() => go(index - 1)}>
        ‹
      </button>
      <select
        aria-label="Question"
        value={String(index)}
        onChange={(event) => go(Number(event.currentTarget.value))}
      >
        {index < all.length - maxOffered && <option value={index}>{label(all[index]?.key ?? '')}</option>}
        {offered.map(({ key, at }) => (
          <option key={key} value={at}>
            {label(key)}
          </option>
        ))}
      </select>
      <button
        type="button"
        aria-label="Question after"
        disabled={index === all.length - 1}
        onClick={() => go(index + 1)}
      >
        ›
      </button>
      <span class="dim">
        {(index + 1).toLocaleString('en')} of {all.length.toLocaleString('en')}
      </span>
    </div>
  )
}

interface TimedProps {
  readonly list: RowList
  readonly current: string | undefined
  readonly handle: (handle: RowsHandle) => void
}

/** The rows of one question, and the axis above them. */
function Timed({ list, current, handle }: TimedProps): VNode {
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
    <div class="timed" {...grid.tree('Contexts and tool calls over time', slots.length + 1)}>
      <ScaleProvider value={scale}>
        <Axis />
        <div class="waterfall-rows">
          <VirtualRows
            list={list}
            current={current}
            component={WaterfallRow}
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
  )
}

/** A context, a call or a proposal: what it is, and its time as a bar. */
function WaterfallRow(props: RowProps): VNode {
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
      {row.type === 'proposal' && row.proposal.state === 'open' && (
        <div class="asked" {...grid.cell}>
          <ProposalCard row={row} />
        </div>
      )}
    </div>
  )
}

function What({ row }: { row: Row }): VNode {
  const { cycle } = useSpace()
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
            onClick={() => cycle(row.context)}
          >
            {isOpen ? '▾' : '▸'}
          </button>
          {!row.isNested && <Name id={row.owner} />}
          <Said kind={row.isLive ? 'opening' : 'ending'} text={row.ending ?? row.opening ?? ''} />
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

function Bar({ row }: { row: Row }): VNode | null {
  const scale = useScale()
  const span = getSpan(row)
  if (span === undefined) return null
  const [left, right] = [scale.at(span.from - scale.start), scale.at((span.to ?? scale.now) - scale.start)]
  const style = { left: percent(left), width: percent(right - left) }
  return <span class={`bar ${getBarClass(row)}`} style={style} />
}

/** How long it took, beside the bars. */
function Spent({ row }: { row: Row }): VNode | null {
  const { now } = useScale()
  const span = getSpan(row)
  if (span === undefined) return null
  const text = formatDuration((span.to ?? now) - span.from)
  return (
    <>
      {span.to === undefined ? `${text}…` : text}
      <span class="unseen"> {getBarClass(row)}</span>
    </>
  )
}

function getBarClass(row: Row): string {
  if (row.type === 'heading') return row.isLive ? 'run live' : `run ${row.state}`
  if (row.type === 'proposal') return `wait ${row.proposal.state}`
  if (row.type === 'call') return `call ${row.hasFailed ? 'error' : (row.result?.outcome ?? 'pending')}`
  return ''
}

/** The axis, in milliseconds since it begins; when that was, and what time it is, by the gateway's clock. */
interface Scale extends TimeScale {
  readonly start: number
  readonly now: number
}

const ScaleContext = createContext<Scale>({ ...timeScale([], 0), start: 0, now: 0 })
const ScaleProvider = ScaleContext.Provider
const useScale = (): Scale => useContext(ScaleContext)

/** As CSS has it. */
const percent = (part: number): string => `${(part * 100).toFixed(2)}%`

/** The head of the waterfall: what stands in its columns, and the time. */
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
