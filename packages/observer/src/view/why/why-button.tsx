import type { VNode } from 'preact'
import { useSpace } from '../shared/use-space.js'

/** Button that explains an envelope. */
export function WhyButton({ id }: { id: string }): VNode {
  const { showPanel } = useSpace()
  return (
    <button
      type="button"
      class="link why-button"
      title="Its causes (w)"
      onClick={(event) => {
        event.stopPropagation()
        showPanel({ at: 'why', id })
      }}
    >
      why?
    </button>
  )
}
