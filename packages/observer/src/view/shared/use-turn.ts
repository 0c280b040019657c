import { useEffect, useState } from 'preact/hooks'

/** Functions that draw waiting parts of the page, one per frame. */
const waiting: (() => void)[] = []

function drawNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) requestAnimationFrame(drawNext)
}

/** `true` once this component may draw its expensive part: one per frame, because all at once would block the page. */
export function useTurn(): boolean {
  const [isOn, setOn] = useState(false)
  useEffect(() => {
    const turn = (): void => setOn(true)
    if (waiting.push(turn) === 1) requestAnimationFrame(drawNext)
    return () => {
      const at = waiting.indexOf(turn)
      if (at !== -1) waiting.splice(at, 1)
    }
  }, [])
  return isOn
}
