import { type Static, Type } from '@sinclair/typebox'
import { type Commit, type CommitOptions, frozenJson, seal, verifyCommits } from './commit.js'
import {
  Annotation,
  type Content,
  type ContentType,
  checkContent,
  contentHints,
  mustFit,
  type Priority,
  Usage,
} from './content.js'
import { TranscriptError } from './errors.js'

/** A commit with its annotations. */
export interface LogEntry {
  readonly commit: Commit
  /** The commit's priority in prompts: as annotated, otherwise the default of its type. */
  readonly priority: Priority
  /** The latest annotation of the commit. */
  readonly annotation?: Annotation
  /** Token counts of the model call that produced the commit. */
  readonly usage?: Usage
}

export interface ChainFilter {
  readonly type?: ContentType
  /** Selects commits of this named speaker. */
  readonly from?: string
  /** Hash of a commit; selects the commits after it. */
  readonly after?: string
  /** Hash of a commit; selects it and the commits before it. */
  readonly through?: string
}

/** An append-only list of commits, each linked to the previous one by its hash. Hashes do not cover annotations. */
export class Chain {
  readonly #commits: Commit[] = []
  readonly #places = new Map<string, number>()
  readonly #annotations = new Map<string, Annotation>()
  readonly #usage = new Map<string, Usage>()

  /** All commits, oldest first. */
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

  /** Adds a sealed commit. Does not verify its hash. */
  add(commit: Commit): void {
    this.#places.set(commit.hash, this.#commits.length)
    this.#commits.push(commit)
  }

  annotate(hash: string, annotation: Annotation): void {
    this.#findPlace(hash)
    mustFit(Annotation, annotation, 'annotation', 'invalid_content')
    this.#annotations.set(hash, Object.freeze({ ...annotation }))
  }

  record(hash: string, usage: Usage): void {
    this.#findPlace(hash)
    this.#usage.set(hash, Object.freeze({ ...usage }))
  }

  /** The selected commits, oldest first. */
  log({ type, from, after, through }: ChainFilter = {}): LogEntry[] {
    const first = after === undefined ? 0 : this.#findPlace(after) + 1
    const end = through === undefined ? this.#commits.length : this.#findPlace(through) + 1
    return this.#commits
      .slice(first, end)
      .filter(({ content }) => type === undefined || content.content_type === type)
      .filter(({ content }) => from === undefined || ('from' in content && content.from === from))
      .map((commit) => this.#toLogEntry(commit))
  }

  #toLogEntry(commit: Commit): LogEntry {
    const [annotation, usage] = [this.#annotations.get(commit.hash), this.#usage.get(commit.hash)]
    const priority = annotation?.priority ?? contentHints[commit.content.content_type].default_priority
    return { commit, priority, ...(annotation && { annotation }), ...(usage && { usage }) }
  }

  #findPlace(hash: string): number {
    const place = this.#places.get(hash)
    if (place === undefined) throw new TranscriptError('unknown_commit', { hash })
    return place
  }
}

const closed = { additionalProperties: false }
const hash = Type.String()
const link = Type.Union([hash, Type.Null()])

const CommitRecord = Type.Object(
  {
    hash,
    parent: link,
    content: Type.Unsafe<Readonly<Content>>(Type.Object({ content_type: Type.String() })),
    message: Type.String(),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  closed,
)

/** A transcript as JSON. `notes`: annotations and token counts of commits, which hashes do not cover. */
const TranscriptRecord = Type.Object(
  {
    head: link,
    commits: Type.Array(CommitRecord),
    notes: Type.Array(
      Type.Object({ hash, annotation: Type.Optional(Annotation), usage: Type.Optional(Usage) }, closed),
    ),
  },
  closed,
)
export type TranscriptRecord = Static<typeof TranscriptRecord>

export function toRecord(chain: Chain): TranscriptRecord {
  const notes = chain.log().flatMap(({ commit: { hash }, annotation, usage }) => {
    if (annotation === undefined && usage === undefined) return []
    return { hash, ...(annotation && { annotation }), ...(usage && { usage }) }
  })
  return { head: chain.head, commits: [...chain.commits], notes }
}

/** Creates a chain from a record. Throws `invalid_record` if the record is malformed, `changed_record` if it was changed. */
export function toChain(record: TranscriptRecord): Chain {
  mustFit(TranscriptRecord, record, 'record', 'invalid_record')
  const { head, commits, notes } = frozenJson(record)
  const verdict = verifyCommits(commits, head)
  if (!verdict.ok) throw new TranscriptError('changed_record', { at: verdict.at, problem: verdict.problem })
  const chain = new Chain()
  for (const commit of commits) {
    checkContent(commit.content, 'invalid_record')
    chain.add(commit)
  }
  const known = new Set(commits.map((commit) => commit.hash))
  for (const { hash, annotation, usage } of notes) {
    if (!known.has(hash)) throw new TranscriptError('unknown_note', { hash })
    if (annotation !== undefined) chain.annotate(hash, annotation)
    if (usage !== undefined) chain.record(hash, usage)
  }
  return chain
}
