import { Chain, type LogEntry } from './chain.js'
import type { Commit, CommitOptions } from './commit.js'
import type { Content, SummaryContent, Usage } from './content.js'

/** A commit before it is sealed. */
export interface CommitDraft extends CommitOptions {
  readonly content: Content
  /** Tokens of its call; not hashed. */
  readonly usage?: Usage
}

/** An envelope that resulted from a commit. */
export interface EnvelopeLink {
  readonly id: string
  readonly kind: string
}

/** A link with the hash of its commit. */
export interface CommitLink extends EnvelopeLink {
  readonly hash: string
}

/** A store of linked commits. Append-only, except that old commits may be removed. */
export interface TranscriptStore {
  /** Appends all of them or none. Throws if they cannot be stored. */
  append(drafts: readonly CommitDraft[]): readonly Commit[]
  /** Links envelopes to their commits. */
  link(links: readonly CommitLink[]): void
  /** The latest summaries, newest first; absent = they are made again after a restart. */
  summaries?(): Iterable<Commit<SummaryContent>>
  close(): void
}

export const isSummary = (commit: Commit): commit is Commit<SummaryContent> =>
  commit.content.content_type === 'summary'

/** Keeps all commits in memory. */
export class MemoryTranscript implements TranscriptStore {
  readonly #chain = new Chain()

  append(drafts: readonly CommitDraft[]): readonly Commit[] {
    return drafts.map(({ content, usage, ...options }) => {
      const commit = this.#chain.append(content, options)
      if (usage) this.#chain.record(commit.hash, usage)
      return commit
    })
  }

  link(): void {}

  summaries(): Commit<SummaryContent>[] {
    return this.#chain.commits.filter(isSummary).reverse()
  }

  close(): void {}

  /** Oldest first. */
  entries(): LogEntry[] {
    return this.#chain.log()
  }
}
