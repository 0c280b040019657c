import type { Mutant } from './mutant.js'

const observer = 'packages/observer'

/** Wrong edits of the page. The comment of each says what goes wrong. */
export const page: readonly Mutant[] = [
  // A user can approve without having scrolled to the end of every box.
  {
    package: observer,
    function: 'SeenParts.hasAll',
    replace: 'parts.every(',
    by: 'parts.some(',
    tests: ['packages/observer/test/card-content.test.ts'],
  },
  // A call of a tool whose name has invisible or lookalike characters is shown without its exact JSON.
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
  // A tool with an unknown effect is treated like one that only reads.
  {
    package: observer,
    function: 'judge',
    replace: "risk.level !== 'reads'",
    by: "risk.level === 'destructive'",
    tests: ['packages/observer/test/inbox.test.ts'],
  },
  // A tool that declares itself as read-only is treated as harmless, even if its arguments are destructive.
  {
    package: 'packages/folds',
    function: 'assessRisk',
    replace: "if (found !== undefined) return { level: 'destructive', reason: found }",
    by: "if (found !== undefined && effect !== 'reads') return { level: 'destructive', reason: found }",
    tests: ['packages/folds/test/risk.test.ts'],
  },
  // A context that ends is folded even while the reader has scrolled up to earlier lines.
  {
    package: observer,
    function: 'Folding.onEnded',
    replace: 'if (this.#isFollowing) return this.#live.delete(context)',
    by: 'return this.#live.delete(context)',
    tests: ['packages/observer/test/model.test.ts'],
  },
  // The page confirms a log that was changed together with its chain.
  {
    package: observer,
    function: 'ChainCheck.#compare',
    replace: "if (!isSameEnvelope(body, shown)) throw new BrokenChain('it is not what was shown here', seq)",
    by: '',
    tests: ['packages/observer/test/chain.test.ts'],
  },
  // The page as it was at an earlier seq lacks history that was loaded after it was computed.
  {
    package: observer,
    function: 'Past.work',
    replace: 'if (log.envelopes !== this.#source) this.#restart()',
    by: '',
    tests: ['packages/observer/test/past.test.ts'],
  },
  // Envelopes after a conclusion in a free path, which no `reasoning.start` has opened, count as late.
  {
    package: 'packages/folds',
    function: 'isLate',
    replace: "state !== 'free' && ",
    by: '',
    tests: ['packages/observer/test/rows.test.ts'],
  },
]
