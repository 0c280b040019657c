import type { Mutant } from './mutant.js'

const observer = 'packages/observer'

export const page: readonly Mutant[] = [
  // Content below the edge of a box counts as seen.
  {
    package: observer,
    function: 'SeenParts.hasAll',
    replace: 'parts.every(',
    by: 'parts.some(',
    tests: ['packages/observer/test/card-content.test.ts'],
  },
  // A name of a tool that is not what it seems passes for plain.
  {
    package: observer,
    function: 'summarizeProposal',
    replace: 'spellOut(name) === name',
    by: 'true',
    tests: ['packages/observer/test/card-content.test.ts'],
  },
  // Filtering for one participant hides the gateway's envelopes about it.
  {
    package: observer,
    function: 'matchesFilter',
    replace: '.some((id) => from.includes(id))',
    by: '.every((id) => from.includes(id))',
    tests: ['packages/observer/test/filter.test.ts'],
  },
  // A tool that says nothing of what it does passes for one that only reads.
  {
    package: observer,
    function: 'judge',
    replace: "risk.level !== 'reads'",
    by: "risk.level === 'destructive'",
    tests: ['packages/observer/test/inbox.test.ts'],
  },
  // A tool that says that it only reads passes for harmless, whatever it is asked to run.
  {
    package: 'packages/folds',
    function: 'assessRisk',
    replace: "if (found !== undefined) return { level: 'destructive', reason: found }",
    by: "if (found !== undefined && effect !== 'reads') return { level: 'destructive', reason: found }",
    tests: ['packages/folds/test/risk.test.ts'],
  },
  // A past state that the reader looks at closes.
  {
    package: observer,
    function: 'Folding.onEnded',
    replace: 'if (this.#isFollowing) return this.#live.delete(context)',
    by: 'return this.#live.delete(context)',
    tests: ['packages/observer/test/model.test.ts'],
  },
  // A changed log with a recomputed chain gets its tick.
  {
    package: observer,
    function: 'ChainCheck.#compare',
    replace: "if (!isSameEnvelope(body, shown)) throw new BrokenChain('it is not what was shown here', seq)",
    by: '',
    tests: ['packages/observer/test/chain.test.ts'],
  },
  // Past states miss history that was loaded later.
  {
    package: observer,
    function: 'Past.work',
    replace: 'if (log.envelopes !== this.#source) this.#restart()',
    by: '',
    tests: ['packages/observer/test/past.test.ts'],
  },
  // Envelopes after a conclusion in a free context count as late.
  {
    package: 'packages/folds',
    function: 'isLate',
    replace: "state !== 'free' && ",
    by: '',
    tests: ['packages/observer/test/rows.test.ts'],
  },
]
