import { type Commit, hashOf } from './commit.js'

export type Verdict =
  | { readonly ok: true; readonly commits: number; readonly head: string | null }
  /** `at` = index of the first commit that is wrong, or how many there are where the head is. */
  | { readonly ok: false; readonly at: number; readonly problem: 'parent' | 'hash' | 'head' }

/** Whether each commit is what its hash says and follows the one before, up to `head` where that is known. */
export function verifyCommits(commits: readonly Commit[], head?: string | null): Verdict {
  let parent: string | null = null
  for (const [at, commit] of commits.entries()) {
    if (commit.parent !== parent) return { ok: false, at, problem: 'parent' }
    if (hashOf(commit) !== commit.hash) return { ok: false, at, problem: 'hash' }
    parent = commit.hash
  }
  if (head !== undefined && head !== parent) return { ok: false, at: commits.length, problem: 'head' }
  return { ok: true, commits: commits.length, head: parent }
}
