import { Annotation, type Priority } from './annotation.js'
import { type Commit, type CommitOptions, seal } from './commit.js'
import { type Content, type ContentType, contentHints } from './content.js'
import { TranscriptError } from './errors.js'
import { mustFit } from './must-fit.js'
import type { Usage } from './usage.js'

/** A commit, and what is known beside it. */
export interface LogEntry {
  readonly commit: Commit
  /** What it counts as in prompts: as annotated, else by its type. */
  readonly priority: Priority
  /** Somebody's last word on it. */
  readonly annotation?: Annotation
  /** Tokens of the call that it came from. */
  readonly usage?: Usage
}

export interface LogFilter {
  readonly type?: ContentType
  /** Only what this one said, of those who are named. */
  readonly from?: string
  /** Hash of the last commit that is left out. */
  readonly after?: string
  /** Hash of the last commit that is shown. */
  readonly through?: string
}

/** Commits, each linked to the one before. It only grows; notes about them are beside it, and in no hash. */
export class Chain {
  readonly #commits: Commit[] = []
  readonly #places = new Map<string, number>()
  readonly #annotations = new Map<string, Annotation>()
  readonly #usage = new Map<string, Usage>()

  /** Oldest first. */
  get commits(): readonly Commit[] {
    return this.#commits
  }

  get head(): string | null {
    return this.#commits.at(-1)?.hash ?? null
  }

  append<C extends Content>(content: C, options?: CommitOptions): Commit<C> {
    const commit = seal(content, this.head, options)
    this.add(commit)
    return commit
  }

  /** One that was sealed before. Its hash is taken as it is. */
  add(commit: Commit): void {
    this.#places.set(commit.hash, this.#commits.length)
    this.#commits.push(commit)
  }

  annotate(hash: string, annotation: Annotation): void {
    this.#placeOf(hash)
    mustFit(Annotation, annotation, 'annotation', 'invalid_content')
    this.#annotations.set(hash, Object.freeze({ ...annotation }))
  }

  record(hash: string, usage: Usage): void {
    this.#placeOf(hash)
    this.#usage.set(hash, Object.freeze({ ...usage }))
  }

  /** Oldest first. */
  log({ type, from, after, through }: LogFilter = {}): LogEntry[] {
    const first = after === undefined ? 0 : this.#placeOf(after) + 1
    const end = through === undefined ? this.#commits.length : this.#placeOf(through) + 1
    return this.#commits
      .slice(first, end)
      .filter(({ content }) => type === undefined || content.content_type === type)
      .filter(({ content }) => from === undefined || ('from' in content && content.from === from))
      .map((commit) => this.#entryOf(commit))
  }

  #entryOf(commit: Commit): LogEntry {
    const [annotation, usage] = [this.#annotations.get(commit.hash), this.#usage.get(commit.hash)]
    const priority = annotation?.priority ?? contentHints[commit.content.content_type].defaultPriority
    return { commit, priority, ...(annotation && { annotation }), ...(usage && { usage }) }
  }

  #placeOf(hash: string): number {
    const place = this.#places.get(hash)
    if (place === undefined) throw new TranscriptError('unknown_commit', `no commit has the hash ${hash}`)
    return place
  }
}
