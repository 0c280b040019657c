import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageSession } from '../../connect/session.js'
import { loadChoices, saveChoices } from '../../connect/storage.js'
import { type PageRoute, readRoute, type SpaceModel, writeRoute } from '../../model/index.js'
import type { RowsHandle } from './virtual-rows.js'

/** Current time, in ms since the epoch; redraws every `everyMs` while needed. */
export function useNow(isNeeded: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isNeeded) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [isNeeded, everyMs])
  return now
}

/**
 * Ref of a box with `<End>` at the end of its content. `onEnd` is called once the content was visible completely, or scrolled
 * to its end. `content`: any value that changes with the content; `undefined` if the content is incomplete.
 */
export function useSeenToEnd<Box extends HTMLElement>(content: unknown, onEnd: () => void): RefObject<Box> {
  const box = useRef<Box>(null)
  const latest = useRef(onEnd)
  latest.current = onEnd
  useEffect(() => {
    const element = box.current
    const end = element?.querySelector('[data-end]')
    if (element === null || end == null || content === undefined) return
    let isEndInView = false
    const look = (): void => {
      if (isEndInView && isAtEnd(element)) latest.current()
    }
    const inView = new IntersectionObserver((entries) => {
      isEndInView = entries.at(-1)?.isIntersecting === true
      look()
    })
    inView.observe(end)
    // A ResizeObserver calls back at once, so no first check is needed, and whenever the box unfolds or changes its width.
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look)
    return () => {
      inView.disconnect()
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [content])
  return box
}

/**
 * Whether a box is scrolled to its end. A folded box has no height. Tolerates a pixel, because sizes are rounded and scroll
 * positions are not.
 */
const isAtEnd = ({ scrollTop, scrollLeft, scrollHeight, scrollWidth, clientHeight, clientWidth }: Element) =>
  scrollHeight > 0 &&
  scrollTop + clientHeight >= scrollHeight - 1 &&
  Math.abs(scrollLeft) + clientWidth >= scrollWidth - 1

/** Milliseconds per frame for rebuilding rows. */
const frameBudgetMs = 12

/** Rebuilds rows of a long log after a view setting changed, in steps that fit into frames. */
export function useCatchingUp(model: SpaceModel, redraw: () => void): void {
  const { isBehind } = model
  useEffect(() => {
    if (!isBehind) return
    let frame = 0
    const work = (): void => {
      const until = performance.now() + frameBudgetMs
      if (model.catchUp(() => performance.now() > until)) redraw()
      else frame = requestAnimationFrame(work)
    }
    frame = requestAnimationFrame(work)
    return () => cancelAnimationFrame(frame)
  }, [model, isBehind])
}

/** Parts of the URL to change; `undefined` removes a part. */
type AddressChange = { readonly [Name in keyof PageRoute]?: PageRoute[Name] | undefined }

/** Changes parts of the URL without adding an entry to the browser history. */
export function updateAddress(parts: AddressChange): void {
  const given = Object.entries({ ...readRoute(location.hash), ...parts }).filter(
    ([, value]) => value !== undefined,
  )
  const hash = writeRoute(Object.fromEntries(given))
  if (hash !== location.hash) history.replaceState(null, '', hash)
}

/** Maximum number of contexts of which the tab stores whether they are folded. */
const maxFolds = 1000
/** A reader this close to the end, in pixels, is at the live end: after a reload, the newest row is in view again. */
const nearEndPx = 24

/** Stores scroll position and unfolded contexts when the page is left, and restores them after a reload. */
export function useScrollPosition(
  session: PageSession,
  shown: { readonly current: RowsHandle | undefined },
): void {
  const { space } = session.place
  const wanted = useRef<string | undefined>(undefined)
  useEffect(() => {
    wanted.current = loadChoices(space).top
    const keep = (): void => {
      if (session.present.log.last === 0) return
      const folds = [...session.present.folding.choices].slice(-maxFolds)
      const top = wanted.current ?? getTopRowId(shown.current)
      saveChoices(space, { ...loadChoices(space), folds, top })
    }
    const give = (): void => {
      wanted.current = undefined
    }
    addEventListener('pagehide', keep)
    for (const event of moveEvents) addEventListener(event, give)
    return () => {
      removeEventListener('pagehide', keep)
      for (const event of moveEvents) removeEventListener(event, give)
    }
  }, [session])
  const { log } = session.present
  useEffect(() => {
    if (wanted.current === undefined || log.get(wanted.current) === undefined) return
    let frame = 0
    let left = maxFrames
    const go = (): void => {
      const id = wanted.current
      if (id === undefined) return
      if (getTopRowId(shown.current) === id || left-- === 0) wanted.current = undefined
      else {
        shown.current?.reveal(id, 'first')
        frame = requestAnimationFrame(go)
      }
    }
    frame = requestAnimationFrame(go)
    return () => cancelAnimationFrame(frame)
  }, [log.envelopes.length])
}

/** Maximum frames to wait for the scroll position: new lines are drawn and measured first. */
const maxFrames = 60

/** Events that end the restoration, because the reader has moved. */
const moveEvents = ['wheel', 'keydown', 'pointerdown'] as const

/** Id of the envelope in the first visible row; `undefined` if the newest row is in view (the live end). */
function getTopRowId(handle: RowsHandle | undefined): string | undefined {
  const box = document.querySelector('.scroller')
  if (handle === undefined || box === null) return undefined
  if (box.scrollTop + box.clientHeight >= box.scrollHeight - nearEndPx) return undefined
  const { slots, layout } = handle.list
  return slots[layout.indexAt(box.scrollTop + 8)]?.envelope.id
}
