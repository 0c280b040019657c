import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { countText, type Lane, type RowList } from '../../model/index.js'
import { Avatar, memo, Name, Newer, Time } from '../shared/parts.js'
import { useTreeRow } from '../shared/row-props.js'
import { grid } from '../shared/table-roles.js'
import { useSpace } from '../shared/use-space.js'
import { useTurn } from '../shared/use-turn.js'
import { type RowProps, type RowsHandle, type ViewProps, VirtualRows } from '../shared/virtual-rows.js'
import { LiveAnswerContent, WhyOfAnswer } from './message.js'
import { RowContent } from './rows.js'
import '../../style/lanes.css'

/** Minimum width of a lane. Lanes that do not fit next to each other are reached by scrolling. */
const minLaneWidthPx = 320
/** Maximum number of lanes listed by name; the list appears if not all lanes are visible. */
const maxNames = 100
/** Number of lanes drawn on each side of the visible ones. */
const overscanLanes = 1

/** The thoughts and acts of each participant, side by side. Only lanes near the view are in the document. */
export function Lanes({ current, handle }: ViewProps): VNode {
  const { session } = useSpace()
  const { model } = session
  const { lanes } = model.lists
  const box = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ left: 0, width: 0 })
  const shown = useRef(new Map<string | null, RowsHandle>())
  const away = useRef(new Set<string | null>())
  /** Key of the lane that last had the current row: keys go there even while that row is folded away. */
  const latest = useRef<string | null>(null)
  /** Id of an envelope to reveal once its lane is drawn. */
  const wanted = useRef<string | undefined>(undefined)
  const width = Math.max(minLaneWidthPx, Math.floor(seen.width / Math.max(lanes.length, 1)))
  const start = Math.max(Math.floor(seen.left / width) - overscanLanes, 0)
  const end = Math.min(Math.ceil((seen.left + seen.width) / width) + overscanLanes, lanes.length)

  useEffect(() => () => model.lists.drop('lanes'), [model])
  useLayoutEffect(() => {
    const look = (): void => {
      const { scrollLeft: left = 0, clientWidth = 0 } = box.current ?? {}
      setSeen((now) => (now.left === left && now.width === clientWidth ? now : { left, width: clientWidth }))
    }
    const observer = new ResizeObserver(look)
    if (box.current !== null) observer.observe(box.current)
    box.current?.addEventListener('scroll', look, { passive: true })
    return () => observer.disconnect()
  }, [])

  const reveal = (id: string): string | undefined => {
    const isThere = ({ list }: { list: RowList }): boolean => list.indexOf(id) !== -1
    const index = lanes.findIndex(isThere)
    const lane = lanes[index]
    if (lane === undefined) return undefined
    const [left, right] = [index * width, (index + 1) * width]
    const { scrollLeft = 0, clientWidth = 0 } = box.current ?? {}
    if (left < scrollLeft) box.current?.scrollTo({ left })
    else if (right > scrollLeft + clientWidth) box.current?.scrollTo({ left: right - clientWidth })
    const rows = shown.current.get(lane.key)
    if (rows !== undefined) return rows.reveal(id)
    wanted.current = id
    return lane.list.slots[lane.list.indexOf(id)]?.key
  }
  const currentRows = (): RowsHandle | undefined => {
    const all = [...shown.current]
    const found = all.find(([, { list }]) => list.slots.some(({ key }) => key === current))
    if (found !== undefined) latest.current = found[0]
    return shown.current.get(latest.current) ?? all[0]?.[1]
  }
  useLayoutEffect(() => {
    handle({
      get list() {
        return currentRows()?.list ?? model.lists.stream
      },
      toEnd: () => {
        for (const rows of shown.current.values()) rows.toEnd()
      },
      focus: (index) => currentRows()?.focus(index),
      reveal,
    })
  })

  const toLane = (index: number): void => {
    box.current?.scrollTo({ left: Math.max((index + 0.5) * width - seen.width / 2, 0) })
  }
  const isSeen = (index: number): boolean =>
    index * width >= seen.left - 1 && (index + 1) * width <= seen.left + seen.width + 1

  const hasNames = seen.width > 0 && lanes.some((_, index) => !isSeen(index))

  return (
    <div class={`lanes-view ${hasNames ? 'named' : ''}`}>
      {hasNames && (
        <nav class="lane-names" aria-label="Lanes">
          {lanes.slice(0, maxNames).map(({ key }, index) => (
            <button
              key={key ?? ''}
              type="button"
              class={isSeen(index) ? 'seen' : ''}
              onClick={() => toLane(index)}
            >
              {key === null ? 'Conversation' : <Name id={key} />}
            </button>
          ))}
        </nav>
      )}
      <div class="lanes" ref={box}>
        <div class="lanes-before" style={{ width: start * width }} />
        {lanes.slice(start, end).map((lane) => (
          <LaneColumn
            key={lane.key ?? ''}
            lane={lane}
            width={width}
            current={current}
            handle={(rows) => {
              if (rows === undefined) {
                shown.current.delete(lane.key)
                return
              }
              shown.current.set(lane.key, rows)
              const { current: id } = wanted
              if (id === undefined || rows.list.indexOf(id) === -1) return
              wanted.current = undefined
              rows.reveal(id)
            }}
            follow={(isFollowing) => {
              if (isFollowing) away.current.delete(lane.key)
              else away.current.add(lane.key)
              model.follow(away.current.size === 0)
            }}
          />
        ))}
        <div class="lanes-after" style={{ width: Math.max(lanes.length - end, 0) * width }} />
      </div>
    </div>
  )
}

interface LaneProps {
  readonly lane: Lane
  /** Width of the lane, in pixels. */
  readonly width: number
  /** Key of the current row, in any lane. */
  readonly current: string | undefined
  /** Receives the lane's `RowsHandle`; `undefined` when it is no longer drawn. */
  readonly handle: (handle: RowsHandle | undefined) => void
  readonly follow: (isFollowing: boolean) => void
}

/** A lane: its owner's thoughts and acts as a foldable tree. */
function LaneColumn({ lane, width, current, handle, follow }: LaneProps): VNode {
  const { key: owner, list } = lane
  /**
   * Number of runs, messages and events in this lane when the reader left its live end: the button counts those added since.
   */
  const had = useRef(0)
  const hasRows = useTurn()
  useEffect(() => () => handle(undefined), [])
  const name = owner === null ? 'The conversation' : owner
  return (
    <section class="lane" style={{ width }} aria-label={name}>
      <header>
        {owner === null ? (
          <strong>Conversation</strong>
        ) : (
          <>
            <Avatar id={owner} kind="small" />
            <Name id={owner} />
          </>
        )}
        {owner !== null && <Load owner={owner} />}
      </header>
      <div class="lane-rows" {...grid.tree(name, list.slots.length)}>
        {hasRows && (
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
            under={owner === null && <LiveAnswers />}
            over={(isFollowing, _, toEnd) =>
              isFollowing ? null : <Newer count={lane.size - had.current} toEnd={toEnd} />
            }
          />
        )}
      </div>
    </section>
  )
}

/** Unfinished answers, below the conversation. */
function LiveAnswers(): VNode | null {
  const { answers } = useSpace().session.model
  if (answers.length === 0) return null
  return (
    <div {...grid.group}>
      {answers.map((answer) => (
        <div key={`${answer.from} ${answer.trigger}`} class="row in-lane outer" {...grid.writtenRow}>
          <div class="content" {...grid.cell}>
            <LiveAnswerContent answer={answer} />
          </div>
        </div>
      ))}
    </div>
  )
}

function Load({ owner }: { owner: string }): VNode | null {
  const { model } = useSpace().session
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
        {row.type === 'message' && row.part.isFirst && (
          <header class="byline">
            <Name id={envelope.from} />
            <WhyOfAnswer envelope={envelope} />
            <Time ts={envelope.ts} />
          </header>
        )}
        <RowContent row={row} />
      </div>
    </div>
  )
})
