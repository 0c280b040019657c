import { Chain, type LogEntry } from './chain.js'
import type { Commit, CommitOptions } from './commit.js'
import type { Content, SummaryContent, Usage } from './content.js'

/** The content of a commit before its hash is computed. */
export interface CommitDraft extends CommitOptions {
  readonly content: Content
  /** Token counts of the model call that produced the commit; not part of the hash. */
  readonly usage?: Usage
}

/** An envelope that was sent as a result of a commit. */
export interface EnvelopeLink {
  readonly id: string
  readonly kind: string
}

/** An envelope link, with the hash of its commit. */
export interface CommitLink extends EnvelopeLink {
  readonly hash: string
}

/** Stores commits, each linked to the previous one. Append-only, except that old commits may be removed. */
export interface TranscriptStore {
  /** Appends all drafts or none. Throws if they cannot be stored. */
  append(drafts: readonly CommitDraft[]): readonly Commit[]
  /** Stores which envelopes resulted from which commits. */
  link(links: readonly CommitLink[]): void
  /**
   * Summaries of messages that are too old for the agent's prompts, newest first; absent: after a restart, the agent has the
   * messages summarized again.
   */
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

  /** All commits, oldest first. */
  entries(): LogEntry[] {
    return this.#chain.log()
  }
}
