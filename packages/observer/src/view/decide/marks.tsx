import type { VNode } from 'preact'
import type { Mark } from '../../model/index.js'
import { useSpace } from '../shared/use-space.js'

const signs: Readonly<Record<Mark['kind'], string>> = { effect: '⚠', first: '①', outside: '↯' }

/** Why a proposal deserves a second look; each says why when it is pointed at or opened. */
export function Marks({ marks }: { marks: readonly Mark[] }): VNode | null {
  const { inspect } = useSpace()
  if (marks.length === 0) return null
  return (
    <ul class="marks">
      {marks.map(({ kind, label, why, id }) => (
        <li key={kind} class={`mark-${kind}`} data-mark={kind}>
          <strong>
            <span aria-hidden="true">{signs[kind]} </span>
            {label}
          </strong>{' '}
          <span class="dim">{why}</span>
          {id !== undefined && (
            <button type="button" class="link" onClick={() => inspect(id)}>
              look at it
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
