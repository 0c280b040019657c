import type { VNode } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { countText, type Hit, type SpaceModel } from '../../model/index.js'
import { CloseButton } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

interface SearchBarProps {
  /** Seq of the line that the reader is at; `undefined` = at the live end. */
  readonly seq: number | undefined
  /** Brings the line of an envelope into view, and leaves the focus where it is. */
  readonly show: (id: string) => void
  readonly close: () => void
}

/** Finds lines, one after the other. */
export function SearchBar({ seq, show, close }: SearchBarProps): VNode {
  const { session, viewFilter } = useSpace()
  const { model } = session
  const { logFilter } = model
  const [at, setAt] = useState<Hit | undefined>()
  const field = useRef<HTMLInputElement>(null)
  const isThrough = useSearching(model)
  useEffect(() => field.current?.select(), [])
  const [asked, ask] = useState<1 | -1 | undefined>()
  const step = (by: 1 | -1): void => {
    ask(undefined)
    const from = at?.seq ?? seq ?? Number.POSITIVE_INFINITY
    const hit = logFilter.search.step(from, by)
    setAt(hit)
    if (hit !== undefined) show(hit.id)
  }
  // Of a search that is not through, the newest hit so far is any: the step waits.
  useEffect(() => {
    if (isThrough && asked !== undefined) step(asked)
  }, [isThrough, asked])
  const { count, beginnings } = logFilter.search
  const { query } = model.viewFilter
  return (
    <search class="search">
      <input
        ref={field}
        name="query"
        type="search"
        aria-label="Search"
        placeholder="Search…"
        maxLength={200}
        spellcheck={false}
        value={query}
        onInput={(event) => {
          setAt(undefined)
          ask(undefined)
          viewFilter.find(event.currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            ask(event.shiftKey ? 1 : -1)
          } else if (event.key === 'Escape') {
            event.stopPropagation()
            close()
          }
        }}
      />
      <output class="dim">
        {query === ''
          ? ''
          : at !== undefined
            ? `${logFilter.search.ordinal(at.seq)} of ${found(count, isThrough)}`
            : found(count, isThrough)}
      </output>
      {query !== '' && beginnings > 0 && (
        <span class="dim" title="Of texts of more than 16 KB this page has the beginning, and searches that">
          {countText(beginnings, 'long text')} searched at the beginning only
        </span>
      )}
      <button
        type="button"
        aria-label="Previous hit"
        title="Previous (Enter)"
        disabled={count === 0}
        onClick={() => ask(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        aria-label="Next hit"
        title="Next (Shift Enter)"
        disabled={count === 0}
        onClick={() => ask(1)}
      >
        ↓
      </button>
      <CloseButton label="Close the search" close={close} />
    </search>
  )
}

const found = (count: number, isThrough: boolean): string =>
  `${count.toLocaleString('en')}${isThrough ? '' : '…'}${count === 0 && isThrough ? ' found' : ''}`

/** Milliseconds that a search may keep the page from anything else. */
const searchBudgetMs = 12

/** Searches a little at a time, as long as there is something to search. Whether that is through. */
function useSearching(model: SpaceModel): boolean {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const { logFilter, log } = model
  useEffect(() => {
    let timer = 0
    const work = (): void => {
      const isThrough = logFilter.work(performance.now() + searchBudgetMs)
      if (isThrough && model.viewFilter.filter.isHitsOnly) model.redrawAll()
      redraw()
      if (!isThrough) timer = window.setTimeout(work, 0)
    }
    timer = window.setTimeout(work, 0)
    return () => clearTimeout(timer)
  }, [model, logFilter.round])
  return logFilter.search.isThrough(log.envelopes.length)
}
