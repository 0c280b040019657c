import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { countText, type Lane } from '../model/index.js'
import { useDesk } from './desk.js'
import { grid } from './grid.js'
import { memo } from './memo.js'
import { Newer } from './newer.js'
import { Name, Time } from './parts.js'
import { useTreeRow } from './row-actions.js'
import { RowContent } from './rows.js'
import { type RowProps, type RowsHandle, VirtualRows } from './virtual-rows.js'

export interface LaneProps {
  readonly lane: Lane
  /** Pixels. */
  readonly width: number
  /** Key of the row that the keys are for, in whichever lane. */
  readonly current: string | undefined
  /** What others may ask of its rows; `undefined`: it is not drawn any more. */
  readonly handle: (handle: RowsHandle | undefined) => void
  readonly follow: (isFollowing: boolean) => void
}

/** One lane: what its owner thinks and does, as a tree whose runs open and close. */
export function LaneColumn({ lane, width, current, handle, follow }: LaneProps): VNode {
  const { owner, list } = lane
  /** Blocks that the reader has had before them, where it has left the live end of this lane. */
  const had = useRef(0)
  useEffect(() => () => handle(undefined), [])
  const name = owner === null ? 'The conversation' : owner
  return (
    <section class="lane" style={{ width }} aria-label={name}>
      <header>
        {owner === null ? <span class="dim">Conversation</span> : <Name id={owner} />}
        {owner !== null && <Load owner={owner} />}
      </header>
      <div class="lane-rows" {...grid.tree(name, list.slots.length)}>
        <VirtualRows
          list={list}
          current={current}
          component={LaneRow}
          group={grid.group}
          handle={handle}
          follow={(isFollowing) => {
            had.current = lane.size
            follow(isFollowing)
          }}
          over={(isFollowing, _, toEnd) =>
            isFollowing ? null : <Newer count={lane.size - had.current} toEnd={toEnd} />
          }
        />
      </div>
    </section>
  )
}

function Load({ owner }: { owner: string }): VNode | null {
  const { model } = useDesk().session
  const load = model.people.find(({ id }) => id === owner)?.load ?? 0
  return load === 0 ? null : <span class="load">◐ {countText(load, 'run')}</span>
}

const LaneRow = memo((props: RowProps): VNode => {
  const { row } = props
  const tree = useTreeRow(props, 0)
  const { depth, envelope } = row
  return (
    <div class={`row in-lane ${depth > 0 ? 'inner' : 'outer'}`} {...tree}>
      <div class={`content depth-${Math.min(depth, 5)}`} {...grid.cell}>
        {row.type === 'message' && <Name id={envelope.from} />}
        {row.type === 'message' && <Time ts={envelope.ts} />}
        <RowContent row={row} />
      </div>
    </div>
  )
})
