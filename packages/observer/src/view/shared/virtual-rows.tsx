import { type ComponentChildren, type ComponentType, type JSX, options, type VNode } from 'preact'
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { LogRow, RowList } from '../../model/index.js'
import { type BlockPosition, findBlockPosition } from './block-position.js'
import { type Place, Scroll } from './scroll.js'
import { useTurn } from './use-turn.js'

export interface RowProps {
  readonly row: LogRow
  readonly index: number
  /** Total number of rows, drawn or not. */
  readonly count: number
  readonly isCurrent: boolean
  /** Whether Tab focuses this row. */
  readonly isEntry: boolean
  readonly place: BlockPosition
}

/** Gives access to the rows of a view. */
export interface RowsHandle {
  readonly list: RowList
  toEnd(): void
  /** Brings a row into view and focuses it. */
  focus(index: number): void
  /** Brings the row of an envelope into view. Returns its key; `undefined` if no row shows the envelope. */
  reveal(id: string, how?: Reveal): string | undefined
}

/** How to reveal a row: with focus, visible, or as the first visible row. */
export type Reveal = 'focused' | 'shown' | 'first'

export interface ViewProps {
  /** Key of the current row. */
  readonly current: string | undefined
  readonly handle: (handle: RowsHandle) => void
}

/** A row that is brought into view once it is drawn. */
interface Wanted {
  readonly key: string | undefined
  readonly isFocused?: boolean
  /** Whether the row is marked briefly. */
  readonly isFound?: boolean
}

/** Time for which a row is marked after a jump. */
const foundMs = 1200

interface VirtualRowsProps {
  readonly list: RowList
  /** Key of the current row. */
  readonly current: string | undefined
  readonly component: ComponentType<RowProps>
  /** Attributes of the element that contains the rows. */
  readonly group: JSX.HTMLAttributes<HTMLDivElement>
  readonly handle: (handle: RowsHandle) => void
  /** Called when the reader reaches the newest row (the live end), and when the reader scrolls away from it. */
  readonly follow: (isFollowing: boolean) => void
  /** Called with the range of visible rows. */
  readonly seen?: (start: number, end: number) => void
  /** Content below the rows that scrolls with them. */
  readonly under?: ComponentChildren
  /** Id of the question that caused the first row in `under`; if the last row has the same one, both are drawn as one block. */
  readonly next?: string | undefined
  /**
   * Renders an overlay above the rows. Arguments: whether the reader is at the live end, the index of the first drawn row, and
   * a function that goes to the live end.
   */
  readonly over?: (isFollowing: boolean, start: number, toEnd: () => void) => VNode | null
}

/** Whether the page is being printed. Rendering is then synchronous, because the browser does not wait. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useLayoutEffect(() => {
    const turn = ({ type }: Event): void => {
      const { debounceRendering } = options
      options.debounceRendering = (draw) => draw()
      setPrinting(type === 'beforeprint')
      if (debounceRendering === undefined) delete options.debounceRendering
      else options.debounceRendering = debounceRendering
    }
    addEventListener('beforeprint', turn)
    addEventListener('afterprint', turn)
    return () => {
      removeEventListener('beforeprint', turn)
      removeEventListener('afterprint', turn)
    }
  }, [])
  return isPrinting
}

/** Maximum number of printed rows, and of those above the visible ones. */
const [maxPrinted, maxPrintedAbove] = [10_000, 5000]

function getPrinted(seen: number, length: number): { start: number; end: number } {
  const start = length <= maxPrinted ? 0 : Math.max(seen - maxPrintedAbove, 0)
  return { start, end: Math.min(start + maxPrinted, length) }
}

/** A virtual list: only rows near the visible part are in the document. */
export function VirtualRows(props: VirtualRowsProps): VNode {
  const { list, current, component: Component, handle, over, seen } = props
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const latest = useRef(props)
  latest.current = props
  const [scroll] = useState(() => new Scroll(() => latest.current))
  const inner = useRef<HTMLDivElement>(null)
  const below = useRef<HTMLDivElement>(null)
  const wanted = useRef<Wanted | undefined>(undefined)
  scroll.hasMargin = useTurn()
  scroll.look()
  const { slots, layout } = list
  const isPrinted = usePrinting()
  const seenRange = scroll.range()
  const { start, end } = isPrinted ? getPrinted(seenRange.start, slots.length) : seenRange

  const tellSeen = (): void => {
    const { start: first, end: last } = scroll.range(0)
    seen?.(first, last)
  }
  const toEnd = (): void => {
    scroll.toEnd()
    redraw()
  }
  const show = (index: number, place: Place): void => {
    scroll.toRow(index, place)
    redraw()
  }
  const focus = (index: number): void => {
    wanted.current = { key: list.slots[index]?.key, isFocused: true }
    show(index, 'near')
  }
  useLayoutEffect(() =>
    handle({
      list,
      toEnd,
      focus,
      reveal(id, how = 'focused') {
        const index = list.indexOf(id)
        if (index === -1) return undefined
        const key = list.slots[index]?.key
        if (how !== 'first') wanted.current = { key, isFocused: how === 'focused', isFound: true }
        show(index, how === 'first' ? 'top' : 'third')
        return key
      },
    }),
  )
  /** Measures drawn rows. If heights differ from the estimates, other rows may have to be drawn. */
  const measure = (): void => {
    if (isPrinted) return // Heights differ in print.
    const { children } = inner.current ?? { children: [] }
    for (const [at, child] of [...children].entries()) {
      list.setHeight(start + at, child.getBoundingClientRect().height)
    }
    void list.slots
    scroll.settle()
    const now = scroll.range()
    if (now.start < start || now.end > end) redraw()
    tellSeen()
  }
  useLayoutEffect(() => {
    measure()
    const { key, isFocused = false, isFound = false } = wanted.current ?? {}
    if (key === undefined) return
    const row = [...(inner.current?.children ?? [])].find(
      (child) => child instanceof HTMLElement && child.dataset.key === key,
    )
    if (!(row instanceof HTMLElement)) return
    wanted.current = undefined
    if (isFocused) row.focus({ preventScroll: true })
    if (isFound) {
      row.classList.add('found')
      setTimeout(() => row.classList.remove('found'), foundMs)
    }
  })
  const measureNow = useRef(measure)
  measureNow.current = measure
  useLayoutEffect(() => {
    latest.current.follow(true)
    const index = current === undefined ? -1 : slots.findIndex(({ key }) => key === current)
    if (index !== -1) show(index, 'third')
    return () => latest.current.follow(true)
  }, [])
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => measureNow.current())
    const box = inner.current?.parentElement
    for (const each of [inner.current, below.current, box])
      if (each instanceof Element) observer.observe(each)
    return () => observer.disconnect()
  }, [])

  const drawn = slots.slice(start, end)
  const entry = drawn.some(({ key }) => key === current) ? current : drawn[0]?.key
  return (
    <>
      {over?.(scroll.isFollowing, start, toEnd)}
      <div
        class="scroller"
        ref={(box) => scroll.attach(box)}
        onWheel={({ deltaY, target }) => {
          if (scroll.turned(deltaY, target)) redraw()
        }}
        onScroll={() => {
          const hasTurned = scroll.scrolled()
          const { start: from, end: to } = scroll.range()
          if (hasTurned || from !== start || to !== end) redraw()
          else tellSeen()
        }}
      >
        <div style={{ height: isPrinted ? 0 : layout.getTop(start) }} />
        <div {...props.group} ref={inner}>
          {drawn.map((slot, at) => (
            <Component
              key={slot.key}
              row={list.getRow(slot)}
              index={start + at}
              count={slots.length}
              isCurrent={slot.key === current}
              isEntry={slot.key === entry}
              place={findBlockPosition(
                slots[start + at - 1]?.origin,
                slot.origin,
                start + at + 1 === slots.length ? props.next : slots[start + at + 1]?.origin,
              )}
            />
          ))}
        </div>
        <div style={{ height: isPrinted ? 0 : Math.max(layout.height - layout.getTop(end), 0) }} />
        <div ref={below}>{props.under}</div>
      </div>
    </>
  )
}
