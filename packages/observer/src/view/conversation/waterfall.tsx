import { formatDuration } from '@meup/folds'
import { createContext, type VNode } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { getSpan, nameText, type Row, type TimeScale, tickText, timeScale } from '../../model/index.js'
import { ProposalCard } from '../decide/proposal-card.js'
import { useNow } from '../shared/hooks.js'
import { Name, Newer, Said } from '../shared/parts.js'
import { grid, useTreeRow } from '../shared/row-props.js'
import { useSpace } from '../shared/use-space.js'
import { type RowProps, type ViewProps, VirtualRows } from '../shared/virtual-rows.js'
import { RowContent } from './rows.js'

/** Contexts and tool calls on a time axis, which shows the time of the rows that are seen. */
export function Waterfall({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const list = model.lists.waterfall
  const { slots } = list
  const [seen, setSeen] = useState({ start: 0, end: 0 })
  useEffect(() => () => model.lists.drop('waterfall'), [model])
  const spans = slots.slice(seen.start, seen.end).flatMap((slot) => getSpan(list.getRow(slot)) ?? [])
  const isGoingOn = spans.some(({ to }) => to === undefined)
  const now = model.gatewayTime(useNow(isGoingOn, 500))
  const extent = spans.map(({ from, to }) => `${from}-${to ?? now}`).join()
  const scale = useMemo(() => ({ ...timeScale(spans, now), now }), [extent])
  return (
    <div class="waterfall" {...grid.tree('Contexts and tool calls over time', slots.length + 1)}>
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
            seen={(start, end) =>
              setSeen((before) => (before.start === start && before.end === end ? before : { start, end }))
            }
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
          <span class={`mark ${row.result?.outcome === 'error' ? 'bad' : ''}`} aria-hidden="true">
            {row.result === null ? '○' : row.result.outcome === 'error' ? '✕' : '●'}
          </span>
          <code class="tool">{row.tool}</code>
          {row.parameters !== '' && <code class="parameters">{row.parameters}</code>}
        </>
      )
    case 'proposal':
      return (
        <>
          <span class="mark warn" aria-hidden="true">
            ⚠
          </span>
          <code class="tool">{nameText(row.proposal.tool)}</code>
          <span class="dim">
            {row.proposal.state === 'open' ? 'waits for a decision' : row.proposal.state}
          </span>
        </>
      )
    default:
      return <RowContent row={row} />
  }
}

/** Part of the axis beyond which the duration stands in its bar, or before it where that is short. */
const [farRight, short] = [0.85, 0.15]

function Bar({ row }: { row: Row }): VNode | null {
  const scale = useScale()
  const span = getSpan(row)
  if (span === undefined) return null
  const { from, to } = span
  const [left, right] = [scale.at(from), scale.at(to ?? scale.now)]
  const text = formatDuration((to ?? scale.now) - from)
  const place =
    right <= farRight
      ? { left: percent(right) }
      : { right: percent(1 - (right - left < short ? left : right)) }
  return (
    <>
      <span class={`bar ${getBarClass(row)}`} style={{ left: percent(left), width: percent(right - left) }} />
      <span class="spent" style={place}>
        {to === undefined ? `${text}…` : text}
        <span class="unseen"> {getBarClass(row)}</span>
      </span>
    </>
  )
}

function getBarClass(row: Row): string {
  if (row.type === 'heading') return row.isLive ? 'run live' : `run ${row.state}`
  if (row.type === 'proposal') return `wait ${row.proposal.state}`
  if (row.type === 'call') return `call ${row.result?.outcome ?? 'pending'}`
  return ''
}

/** The axis, and what time it is by the gateway's clock. */
interface Scale extends TimeScale {
  readonly now: number
}

const ScaleContext = createContext<Scale>({ ...timeScale([], 0), now: 0 })
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
            <time key={ms} class="tick" style={{ left: percent(at) }} dateTime={new Date(ms).toISOString()}>
              {tickText(ms)}
            </time>
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
      </div>
    </div>
  )
}
