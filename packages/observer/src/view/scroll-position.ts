import { useEffect, useRef } from 'preact/hooks'
import type { Session } from '../connect/session.js'
import { loadChoices, saveChoices } from '../connect/storage.js'
import type { RowsHandle } from './shared/virtual-rows.js'

/** So many folds are remembered. */
const maxFolds = 1000
/** Pixels from the end within which a reader is at the live end. */
const nearEndPx = 24

/** Restores the scroll position and the unfolded contexts after a reload. */
export function useScrollPosition(
  session: Session,
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
        shown.current?.reveal(id, false)
        frame = requestAnimationFrame(go)
      }
    }
    frame = requestAnimationFrame(go)
    return () => cancelAnimationFrame(frame)
  }, [log.envelopes.length])
}

/** The view draws what has come, and measures it: so many frames at most until a line is where it was. */
const maxFrames = 60

/** A reader who does one of these has a place of their own again. */
const moveEvents = ['wheel', 'keydown', 'pointerdown'] as const

/** Id of the first line that is seen; `undefined` at the live end. */
function getTopRowId(handle: RowsHandle | undefined): string | undefined {
  const box = document.querySelector('.scroller')
  if (handle === undefined || box === null) return undefined
  if (box.scrollTop + box.clientHeight >= box.scrollHeight - nearEndPx) return undefined
  const { slots, layout } = handle.list
  return slots[layout.indexAt(box.scrollTop + 8)]?.envelope.id
}
