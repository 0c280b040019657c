import type { Mutant } from './mutant.js'

const observer = 'packages/observer'

export const page: readonly Mutant[] = [
  // What stands below the edge of a box passes for seen.
  {
    package: observer,
    function: 'SeenParts.hasAll',
    replace: 'parts.every(',
    by: 'parts.some(',
    tests: ['packages/observer/test/shown.test.ts'],
  },
  // A name of a tool that is not what it seems passes for plain.
  {
    package: observer,
    function: 'summarize',
    replace: 'spellOut(name) === name',
    by: 'true',
    tests: ['packages/observer/test/shown.test.ts'],
  },
  // Whoever looks at one participant alone misses what the gateway says about it.
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
  // What a reader looks back at closes before their eyes.
  {
    package: observer,
    function: 'Folding.onEnded',
    replace: 'if (this.#isFollowing) return this.#live.delete(context)',
    by: 'return this.#live.delete(context)',
    tests: ['packages/observer/test/model.test.ts'],
  },
  // A log that was changed and chained anew gets its tick.
  {
    package: observer,
    function: 'ChainCheck.#compare',
    replace: "if (!isSameEnvelope(body, shown)) throw new BrokenChain('it is not what was shown here', seq)",
    by: '',
    tests: ['packages/observer/test/chain.test.ts'],
  },
  // The past goes on without what was loaded later.
  {
    package: observer,
    function: 'Past.work',
    replace: 'if (log.envelopes !== this.#source) this.#restart()',
    by: '',
    tests: ['packages/observer/test/past.test.ts'],
  },
  // What follows a conclusion in a free context counts as late.
  {
    package: 'packages/folds',
    function: 'isLate',
    replace: "state !== 'free' && ",
    by: '',
    tests: ['packages/observer/test/rows.test.ts'],
  },
]
