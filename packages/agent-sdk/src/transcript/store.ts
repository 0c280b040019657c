import { Chain, type LogEntry } from './chain.js'
import type { Commit, CommitOptions } from './commit.js'
import type { Content, SummaryContent, Usage } from './content.js'

/** What is to be committed. */
export interface CommitDraft extends CommitOptions {
  readonly content: Content
  /** Tokens of the call that it came from; in no hash. */
  readonly usage?: Usage
}

/** An envelope that came of a commit. */
export interface EnvelopeLink {
  readonly id: string
  readonly kind: string
}

/** With the hash of that commit. */
export interface CommitLink extends EnvelopeLink {
  readonly hash: string
}

/** Where commits are kept, each linked to the one before. It only grows, but for its beginning, which grows old. */
export interface TranscriptStore {
  /** All of them, or none: they follow one another. Throws where they cannot be kept. */
  append(drafts: readonly CommitDraft[]): readonly Commit[]
  /** Notes which envelopes came of which commits. */
  link(links: readonly CommitLink[]): void
  /** The latest summaries, the newest first; absent: they are made again after a restart. */
  summaries?(): Iterable<Commit<SummaryContent>>
  close(): void
}

export const isSummary = (commit: Commit): commit is Commit<SummaryContent> =>
  commit.content.content_type === 'summary'

/** Keeps commits in memory, as many as there are. */
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
