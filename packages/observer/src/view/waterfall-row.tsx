import type { VNode } from 'preact'
import { durationText, nameText, type Row, spanOf } from '../model/index.js'
import { percent, useScale } from './axis.js'
import { useDesk } from './desk.js'
import { grid } from './grid.js'
import { Name, Said } from './parts.js'
import { ProposalCard } from './proposal-card.js'
import { useTreeRow } from './row-actions.js'
import { RowContent } from './rows.js'
import type { RowProps } from './virtual-rows.js'

/** A context, a call or a proposal: what it is, and its time as a bar. */
export function WaterfallRow(props: RowProps): VNode {
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
  const { cycle } = useDesk()
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
  const span = spanOf(row)
  if (span === undefined) return null
  const { from, to } = span
  const [left, right] = [scale.at(from), scale.at(to ?? scale.now)]
  const text = durationText((to ?? scale.now) - from)
  const place =
    right <= farRight
      ? { left: percent(right) }
      : { right: percent(1 - (right - left < short ? left : right)) }
  return (
    <>
      <span class={`bar ${kindOf(row)}`} style={{ left: percent(left), width: percent(right - left) }} />
      <span class="spent" style={place}>
        {to === undefined ? `${text}…` : text}
        <span class="unseen"> {kindOf(row)}</span>
      </span>
    </>
  )
}

function kindOf(row: Row): string {
  if (row.type === 'heading') return row.isLive ? 'run live' : `run ${row.state}`
  if (row.type === 'proposal') return `wait ${row.proposal.state}`
  if (row.type === 'call') return `call ${row.result?.outcome ?? 'pending'}`
  return ''
}
