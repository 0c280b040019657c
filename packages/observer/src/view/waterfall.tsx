import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { spanOf, timeScale } from '../model/index.js'
import { Axis, ScaleProvider } from './axis.js'
import { useDesk } from './desk.js'
import { grid } from './grid.js'
import { useNow } from './hooks.js'
import { Newer } from './newer.js'
import { type ViewProps, viewOf } from './view.js'
import { VirtualRows } from './virtual-rows.js'
import { WaterfallRow } from './waterfall-row.js'

/** Contexts and tool calls on a time axis, which shows the time of the rows that are seen. */
export function Waterfall({ current, handle }: ViewProps): VNode {
  const { session } = useDesk()
  const { model } = session
  const list = model.lists.waterfall
  const { slots } = list
  const [seen, setSeen] = useState({ start: 0, end: 0 })
  useEffect(() => () => model.lists.drop('waterfall'), [model])
  const spans = slots.slice(seen.start, seen.end).flatMap((slot) => spanOf(list.rowOf(slot)) ?? [])
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
            handle={(rows) => handle(viewOf(rows))}
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
