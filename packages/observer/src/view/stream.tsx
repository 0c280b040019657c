import type { VNode } from 'preact'
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { useDesk } from './desk.js'
import { StreamRow } from './rows.js'
import { Scroll } from './scroll.js'

export interface StreamProps {
  /** Key of the row that the keys are for. */
  readonly current: string | undefined
  /** What others may ask the stream to do. */
  readonly handle: (handle: StreamHandle) => void
}

export interface StreamHandle {
  toEnd(): void
  /** Brings a row into view and gives it the focus. */
  focus(index: number): void
}

/** The conversation with what is thought in it. Only what is near the view is in the document. */
export function Stream({ current, handle }: StreamProps): VNode {
  const { session } = useDesk()
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const latest = useRef(session)
  latest.current = session
  const [scroll] = useState(() => new Scroll(() => latest.current.model))
  const inner = useRef<HTMLDivElement>(null)
  const wanted = useRef<string | undefined>(undefined)
  const { model } = session
  const { rows, layout } = model
  const { start, end } = scroll.range()

  const toEnd = (): void => {
    scroll.toEnd()
    redraw()
  }
  useLayoutEffect(() =>
    handle({
      toEnd,
      focus(index) {
        wanted.current = rows[index]?.key
        scroll.toRow(index)
        redraw()
      },
    }),
  )

  /** Heights are known once rows are drawn; when they differ from what was thought, other rows may be near. */
  const measure = (): void => {
    const { children } = inner.current ?? { children: [] }
    for (const [at, child] of [...children].entries()) {
      model.measured(start + at, child.getBoundingClientRect().height)
    }
    void model.rows
    scroll.settle()
    const now = scroll.range()
    if (now.start < start || now.end > end) redraw()
  }
  useLayoutEffect(() => {
    measure()
    if (wanted.current === undefined) return
    const row = [...(inner.current?.children ?? [])].find(
      (child) => child instanceof HTMLElement && child.dataset.key === wanted.current,
    )
    if (!(row instanceof HTMLElement)) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
  })
  const measureNow = useRef(measure)
  measureNow.current = measure
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => measureNow.current())
    if (inner.current !== null) observer.observe(inner.current)
    return () => observer.disconnect()
  }, [])

  return (
    <div class="stream">
      {session.hasEarlier && start === 0 && (
        <button
          type="button"
          class="earlier"
          disabled={session.isLoading}
          onClick={() => session.loadEarlier()}
        >
          {session.isLoading ? 'Loading…' : 'Load earlier'}
        </button>
      )}
      <div
        class="scroller"
        ref={(box) => scroll.attach(box)}
        onScroll={() => {
          const hasTurned = scroll.scrolled()
          const { start: from, end: to } = scroll.range()
          if (hasTurned || from !== start || to !== end) redraw()
        }}
      >
        <div style={{ height: layout.topOf(start) }} />
        <div role="feed" aria-label="What happens in the space" aria-busy={session.isLoading} ref={inner}>
          {rows.slice(start, end).map((row, at) => (
            <StreamRow
              key={row.key}
              row={row}
              index={start + at}
              count={rows.length}
              isCurrent={row.key === current}
            />
          ))}
        </div>
        <div style={{ height: Math.max(layout.height - layout.topOf(end), 0) }} />
      </div>
      {!scroll.isFollowing && (
        <button type="button" class="newer" onClick={toEnd}>
          ↓ {model.unseen > 0 ? `${model.unseen.toLocaleString('en')} new` : 'live'}
        </button>
      )}
    </div>
  )
}
