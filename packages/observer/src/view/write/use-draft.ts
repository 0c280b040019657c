import { useEffect, useRef, useState } from 'preact/hooks'
import { loadDraft, saveDraft } from '../../connect/storage.js'

/** Delay before the draft is saved. */
const keepMs = 300

/** The draft of a message, saved in this tab. */
export function useDraft(space: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => loadDraft(space))
  const latest = useRef(text)
  latest.current = text
  useEffect(() => {
    const timer = setTimeout(() => saveDraft(space, text), keepMs)
    return () => clearTimeout(timer)
  }, [text])
  useEffect(() => {
    const keep = (): void => saveDraft(space, latest.current)
    addEventListener('pagehide', keep)
    return () => {
      keep()
      removeEventListener('pagehide', keep)
    }
  }, [space])
  return [text, setText]
}
