import type { VNode } from 'preact'
import { useSpace } from '../shared/use-space.js'

/** Notice about a decision on several proposals that can still be undone. */
export function UndoToast(): VNode | null {
  const { session } = useSpace()
  const { held } = session.held
  if (held === undefined) return null
  return (
    <p class="toast" role="status">
      {held.label}
      <button type="button" onClick={() => session.held.undo()}>
        Undo <kbd>u</kbd>
      </button>
    </p>
  )
}
