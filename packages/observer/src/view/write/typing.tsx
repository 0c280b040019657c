import type { VNode } from 'preact'
import { useNow } from '../shared/hooks.js'
import { useSpace } from '../shared/use-space.js'

/** Names other participants that are typing. */
export function Typing(): VNode | null {
  const { session } = useSpace()
  const { typists } = session.present
  const now = useNow(typists.list(Date.now()).length > 0)
  const ids = typists.list(Math.max(now, Date.now()))
  const [first, second] = ids
  if (first === undefined || session.time.isPast) return null
  const text =
    second === undefined
      ? `${first} is writing…`
      : ids.length === 2
        ? `${first} and ${second} are writing…`
        : `${ids.length} are writing…`
  return <p class="typing dim">{text}</p>
}
