import type { VNode } from 'preact'

/** The way back to the live end, and how much is new there. */
export const Newer = ({ count, toEnd }: { count: number; toEnd: () => void }): VNode => (
  <button type="button" class="newer" onClick={toEnd}>
    ↓ {count > 0 ? `${count.toLocaleString('en')} new` : 'live'}
  </button>
)
