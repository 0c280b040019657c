import { searchedText } from '@meup/folds'
import { getErrorMessage, isThought, Kind, namespaceOf } from '@meup/protocol'
import type { Audience, Reader } from '../../core/may-read.js'
import type { Space } from '../../core/space.js'
import { yieldIfBusy } from '../../core/yielding.js'
import { parseEnvelope, readErasure } from '../../log/entries.js'
import type { Entry, Row } from '../../ports/envelope-log.js'
import { type IndexFile, isDamaged } from '../index-file.js'
import { addBlock, type BlockSet, listRows, noBlocks, Postings, segmentOf, segmentStart } from './segment.js'
import { tokensOf } from './tokens.js'
import { WordFile } from './word-file.js'

/** Rows between `after` and `before`, both exclusive; with `seqs`, only these. */
export interface Stretch {
  readonly after: number
  readonly before: number
  readonly seqs?: readonly number[]
}

/** A segment that is being indexed. */
interface Build {
  readonly segment: number
  /** Seq of the next row to index. */
  next: number
  readonly postings: Postings
  readonly always: BlockSet
}

/** Rows indexed per step: few, so that other work is not delayed. */
const portion = { limit: 64, maxBytes: 128 * 1024, only: 'bodies' } as const
/** Segments removed per step. */
const removedAtOnce = 4
/** Units of work [MEUP-7.8] that a search costs its reader per segment. */
const segmentCost = 4

/**
 * The index of words in rows [ADR 9]. Built segment by segment after the turns, while the process is idle; the log itself is
 * searched where the index has no segment. Rows with the same audience form a class, and are indexed apart from other classes.
 * A search uses the classes that its reader may read, so that unreadable rows influence neither results, reads nor charges
 * [MEUP-8.6].
 */
export class WordIndex {
  readonly #space: Space
  readonly #file: IndexFile
  #opened: WordFile | undefined
  /** The `visibility` of MCP envelopes in the configuration with which `#opened` was opened. */
  #visibility: string | undefined
  #build: Build | undefined

  constructor(space: Space, file: IndexFile) {
    this.#space = space
    this.#file = file
  }

  /** Forgets the open word file, because another log has replaced this one: the next use opens it again. */
  reset(): void {
    this.#opened = undefined
  }

  /** Whether there are rows to index for `step`, given that turns are indexed up to `through`. */
  isBehind(through: number): boolean {
    const words = this.#attempt(() => this.#open())
    const [first, end] = this.#range(through)
    return words !== undefined && words.segments.size < end - first
  }

  /** Indexes the next rows up to `through`. */
  async step(through: number): Promise<void> {
    const build = this.#nextBuild(through)
    if (build === undefined) return
    const before = segmentStart(build.segment + 1)
    const rows = await this.#space.log.read({ after: build.next - 1, before, ...portion })
    if (this.#build !== build) return // The segment was invalidated during the read.
    for (const row of rows) this.#add(build, row)
    const last = rows.at(-1)?.seq ?? before - 1
    build.next = last + 1
    if (build.next === before) this.#write(build)
  }

  /** Drops the segments of rows that these envelopes erase, hide or show. Call it before the turn index adds the envelopes. */
  async prepare(rows: readonly Row[]): Promise<void> {
    const segments = new Set<number>()
    for (const row of rows) {
      const erasure = readErasure(row)
      if (erasure !== undefined) segments.add(segmentOf(erasure.seq))
      if (row.kind !== Kind.observeVisibility || row.body.length === 0) continue
      const { context } = parseEnvelope(row).payload as { readonly context?: unknown }
      if (typeof context !== 'string') continue
      const [root = ''] = context.split('/')
      const run = await this.#space.log.read({
        filter: { context: root },
        limit: maxRunRows,
        only: 'headings',
      })
      for (const { seq } of run) segments.add(segmentOf(seq))
      if (run.length === maxRunRows) for (const segment of this.#open()?.segments ?? []) segments.add(segment)
    }
    if (segments.size > 0) this.#attempt(() => this.#remove([...segments]))
  }

  /** Removes some segments with rows up to `through`. Returns whether none are left. */
  prune(through: number): boolean {
    const words = this.#open()
    if (words === undefined) return true
    // A segment with rows on both sides of `through` is removed as well, and rebuilt from its remaining rows.
    const pruned = [...words.segments].filter((segment) => segmentStart(segment) <= through)
    this.#remove(pruned.slice(0, removedAtOnce))
    if (this.#build !== undefined && segmentStart(this.#build.segment) <= through) this.#build = undefined
    return pruned.length <= removedAtOnce
  }

  /**
   * The rows between `after` and `before` that may contain all of these words, newest first, at most about `maxRows`. Returns
   * the `before` of the next request; `undefined` = no more.
   */
  async *find(
    reader: Reader & { readonly rateLimitKey: string },
    words: readonly string[],
    range: Stretch,
    maxRows: number,
  ): AsyncGenerator<Stretch, number | undefined> {
    const tokens = [...new Set(words.flatMap((word) => [...tokensOf(word)]))]
    const { rates, clock } = this.#space
    let left = maxRows
    let { before } = range
    while (before - range.after > 1) {
      if (left <= 0) return before
      const segment = segmentOf(before - 1)
      const set = this.#attempt(() => this.#lookUp(segment, tokens, reader))
      if (set === undefined) {
        const after = Math.max(range.after, this.#indexedBefore(segment, tokens), before - left - 1)
        yield { after, before }
        left -= before - after - 1
        before = after + 1
        continue
      }
      rates.charge(reader.rateLimitKey, 'work', segmentCost, clock.now())
      const seqs = listRows(segment, set).filter((seq) => seq > range.after && seq < before)
      const start = segmentStart(segment)
      if (seqs.length > 0) yield { after: Math.max(range.after, start - 1), before, seqs }
      left -= seqs.length
      before = start
      const pause = yieldIfBusy()
      if (pause !== undefined) await pause
    }
    return undefined
  }

  /** The last seq of the next older segment that is in the index; 0 = none. */
  #indexedBefore(segment: number, tokens: readonly number[]): number {
    const words = tokens.length === 0 ? undefined : this.#attempt(() => this.#open())
    for (let older = segment - 1; older >= 0 && words !== undefined; older--) {
      if (words.segments.has(older)) return segmentStart(older + 1) - 1
    }
    return 0
  }

  /** Blocks of a segment in which these tokens may be; `undefined` = not indexed, or no tokens. */
  #lookUp(segment: number, tokens: readonly number[], reader: Reader): BlockSet | undefined {
    return tokens.length === 0 ? undefined : this.#open()?.lookUp(segment, tokens, reader)
  }

  #nextBuild(through: number): Build | undefined {
    const words = this.#open()
    if (words === undefined) return undefined
    const [first, end] = this.#range(through)
    if (this.#build !== undefined && this.#build.segment >= first && this.#build.segment < end)
      return this.#build
    this.#build = undefined
    for (let segment = end - 1; segment >= first; segment--) {
      if (words.segments.has(segment)) continue
      const next = Math.max(segmentStart(segment), this.#space.log.oldest)
      this.#build = { segment, next, postings: new Postings(), always: noBlocks() }
      return this.#build
    }
    return undefined
  }

  /** Segments whose rows are all in the log. */
  #range(through: number): readonly [first: number, end: number] {
    return [segmentOf(this.#space.log.oldest), segmentOf(through + 1)]
  }

  #add({ postings, always }: Build, row: Entry): void {
    if (row.body.length === 0 || this.#space.wasErased(row.seq)) return
    const audience = this.#space.decideAudience(row)
    const each = this.#isSteady(row, audience) ? this.#open()?.classOf(audience) : undefined
    if (each === undefined) {
      addBlock(always, row.seq)
      return
    }
    postings.add(row.seq, each, tokensOf(searchedText(parseEnvelope(row))))
  }

  /** Whether the audience of a row is final. It may change for a hidden run or an open proposal. */
  #isSteady(row: Entry, audience: Audience): boolean {
    if (audience === undefined) return true
    if (isThought(row.kind) && audience.isWithheld) return false
    return namespaceOf(row.kind) !== 'mcp' || !this.#space.state.contexts.hasPrivateRuns
  }

  #write({ segment, postings, always }: Build): void {
    this.#build = undefined
    this.#open()?.write(segment, postings, always)
  }

  #remove(segments: readonly number[]): void {
    if (this.#build !== undefined && segments.includes(this.#build.segment)) this.#build = undefined
    if (segments.length > 0) this.#open()?.remove(segments)
  }

  /** Runs a task on the word file. If the file is damaged, it is rebuilt; until then the log itself is searched. */
  #attempt<Result>(task: () => Result): Result | undefined {
    try {
      return task()
    } catch (error) {
      if (!isDamaged(error)) throw error
      this.#opened = undefined
      this.#file.discard(getErrorMessage(error))
      return undefined
    }
  }

  /** The words in the file, once the turn index has opened it for this log. */
  #open(): WordFile | undefined {
    const { name, mcp } = this.#space.config
    if (this.#opened?.isOpen && this.#visibility === mcp.visibility) return this.#opened
    this.#build = undefined
    const db = this.#file.opened
    this.#visibility = mcp.visibility
    this.#opened = db && WordFile.open(db, name, this.#space.log.epoch, mcp.visibility)
    return this.#opened
  }
}

/**
 * Maximum rows of a hidden or shown run that are read to find the segments to drop; for a longer run all segments are dropped.
 */
const maxRunRows = 100_000
