import { useEffect, useRef } from 'preact/hooks'
import { keepChoices, keptChoices } from '../connect/choices.js'
import type { Session } from '../connect/session.js'
import type { ViewHandle } from './view.js'

/** So many folds are remembered. */
const most = 1000
/** Pixels from the end within which a reader is at the live end. */
const nearEnd = 24

/** Leaves a reader who loads the page again where they were, and what they had unfolded unfolded. */
export function useKeptPlace(session: Session, shown: { readonly current: ViewHandle | undefined }): void {
  const { space } = session.place
  const wanted = useRef<string | undefined>(undefined)
  useEffect(() => {
    wanted.current = keptChoices(space).top
    const keep = (): void => {
      if (session.present.log.last === 0) return
      const folds = [...session.present.folding.choices].slice(-most)
      const top = wanted.current ?? topOf(shown.current)
      keepChoices(space, { ...keptChoices(space), folds, top })
    }
    const give = (): void => {
      wanted.current = undefined
    }
    addEventListener('pagehide', keep)
    for (const event of moves) addEventListener(event, give)
    return () => {
      removeEventListener('pagehide', keep)
      for (const event of moves) removeEventListener(event, give)
    }
  }, [session])
  const { log } = session.present
  useEffect(() => {
    if (wanted.current === undefined || log.get(wanted.current) === undefined) return
    let frame = 0
    let left = frames
    const go = (): void => {
      const id = wanted.current
      if (id === undefined) return
      if (topOf(shown.current) === id || left-- === 0) wanted.current = undefined
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
const frames = 60

/** A reader who does one of these has a place of their own again. */
const moves = ['wheel', 'keydown', 'pointerdown'] as const

/** Id of the first line that is seen; `undefined` at the live end. */
function topOf(handle: ViewHandle | undefined): string | undefined {
  const box = document.querySelector('.scroller')
  if (handle === undefined || box === null) return undefined
  if (box.scrollTop + box.clientHeight >= box.scrollHeight - nearEnd) return undefined
  const { slots, layout } = handle.list
  return slots[layout.indexAt(box.scrollTop + 8)]?.envelope.id
}
