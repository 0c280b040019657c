import type { VNode } from 'preact'
import { isFiltering, type Sort, sortNames, sorts, toggled } from '../../model/index.js'
import { useSpace } from '../shared/use-space.js'

/** The active filters, each with a button to remove it. */
export function Filters(): VNode {
  const { session, viewFilter } = useSpace()
  const { filter } = session.model.viewFilter
  const { from, context } = filter
  const chosen: readonly string[] = filter.sorts
  return (
    <section class="filters" aria-label="Filters">
      <h2>Show only</h2>
      <p class="sorts">
        {sorts.map((sort) => (
          <button
            type="button"
            class="toggle"
            key={sort}
            data-sort={sort}
            aria-pressed={chosen.includes(sort)}
            onClick={() => viewFilter.narrow({ sorts: toggled(chosen, sort) as readonly Sort[] })}
          >
            {chosen.includes(sort) ? '✓ ' : ''}
            {sortNames[sort]}
          </button>
        ))}
      </p>
      {from.map((id) => (
        <Only key={id} what={`from ${id}`} drop={() => viewFilter.narrow({ from: toggled(from, id) })} />
      ))}
      {context !== undefined && (
        <Only what={`in ${context}`} drop={() => viewFilter.narrow({ context: undefined })} />
      )}
      {isFiltering(filter) && (
        <button type="button" class="widen" onClick={() => viewFilter.widen()}>
          Show everything
        </button>
      )}
    </section>
  )
}

const Only = ({ what, drop }: { what: string; drop: () => void }): VNode => (
  <p class="only">
    <span class="said" title={what}>
      {what}
    </span>
    <button
      type="button"
      class="quiet"
      aria-label={`No longer only ${what}`}
      title="Show others too"
      onClick={drop}
    >
      ✕
    </button>
  </p>
)
