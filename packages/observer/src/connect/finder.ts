import type { HttpClient, SearchHit, SearchOutcome, SearchPage } from '@meup/agent-sdk/http'
import { type Sort, sortKinds } from '../model/index.js'
import { explainError } from './errors.js'

/** A search: words, and filters for the found envelopes. */
export interface Sought {
  readonly text: string
  readonly from?: string | undefined
  readonly sort?: Sort | undefined
  readonly tool?: string | undefined
  readonly outcome?: SearchOutcome | undefined
  /** Finds only envelopes of this many last minutes. */
  readonly minutes?: number | undefined
}

export const nothingSought: Sought = { text: '' }

export const isSeeking = ({ text, from, sort, tool, outcome, minutes }: Sought): boolean =>
  text.trim() !== '' || [from, sort, tool, outcome, minutes].some((each) => each !== undefined)

/** Debounce interval of typing. */
const typingMs = 150
/** Pages without a hit before the search pauses, and hits per page. */
const [maxEmptyPages, pageSize] = [20, 50]

/** Searches the whole log at the gateway, newest first, page by page. */
export class Finder {
  readonly #http: HttpClient
  readonly #onChange: () => void
  sought: Sought = nothingSought
  hits: readonly SearchHit[] = []
  /** Time of the oldest envelope searched so far; `null` if none. */
  searchedTo: string | null = null
  isSearching = false
  /** Whether the whole log was searched. */
  isWhole = true
  problem: string | undefined
  #pages: AsyncGenerator<SearchPage, void> | undefined
  #abort = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(http: HttpClient, onChange: () => void) {
    this.#http = http
    this.#onChange = onChange
  }

  /** Starts a new search, debounced. */
  find(sought: Sought): void {
    this.stop()
    this.sought = sought
    this.#pages = undefined
    this.hits = []
    this.searchedTo = null
    this.problem = undefined
    this.isWhole = !isSeeking(sought)
    if (!this.isWhole) {
      this.isSearching = true
      this.#timer = setTimeout(() => this.#begin(), typingMs)
    }
    this.#onChange()
  }

  /** Continues the search until there are further hits. */
  goOn(): void {
    if (this.isSearching || this.isWhole) return
    if (this.#pages === undefined) this.find(this.sought)
    else this.#read().catch(reportError)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#abort.abort()
    this.isSearching = false
  }

  #begin(): void {
    const { text, from, sort, tool, outcome, minutes } = this.sought
    this.#abort = new AbortController()
    const query = {
      text: text.trim() === '' ? undefined : text.trim(),
      from: from === undefined ? undefined : [from],
      kind: sort === undefined ? undefined : sortKinds[sort],
      ...{ tool, outcome, limit: pageSize },
      since: minutes === undefined ? undefined : new Date(Date.now() - minutes * 60_000).toISOString(),
    }
    this.#pages = this.#http.search(query, { signal: this.#abort.signal })
    this.#read().catch(reportError)
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort
    const pages = this.#pages
    if (pages === undefined) return
    this.isSearching = true
    this.#onChange()
    const before = this.hits.length
    try {
      for (let page = 0; page < maxEmptyPages && this.hits.length === before && !this.isWhole; page++) {
        const { value } = await pages.next()
        if (signal.aborted) return
        this.isWhole = !value || value.next === undefined
        if (value) {
          this.hits = [...this.hits, ...value.hits]
          this.searchedTo = value.searched_to ?? this.searchedTo
        }
        this.#onChange()
      }
    } catch (error) {
      if (signal.aborted) return
      this.problem = explainError(error)
      this.#pages = undefined
    }
    this.isSearching = false
    this.#onChange()
  }
}
