import type { Mutant } from './mutant.js'

const views = 'packages/views'

/** What people are shown of a log is what happened, as far as they may see it. */
export const folds: readonly Mutant[] = [
  {
    // Anybody seems to end what somebody else thinks about.
    package: views,
    function: 'Lifecycle.#close',
    replace: 'if (outermost.starter !== from && from !== GATEWAY) return none',
    by: '',
    tests: ['packages/views/test/contexts.test.ts', 'packages/views/test/turn-state.test.ts'],
  },
  {
    // Calls are shown to those who may not read them.
    package: views,
    function: 'describe',
    replace: 'counts(decision) && mayRead(decision.source)',
    by: 'counts(decision)',
    tests: ['packages/gateway/test/visibility-views.test.ts', 'packages/views/test/properties.test.ts'],
  },
  {
    // A batch is told of as its first call ends, and what came of the others never is.
    package: views,
    function: 'settle',
    replace: 'decision.reportedAt !== null || batch.some(isPending)',
    by: 'decision.reportedAt !== null',
    tests: ['packages/views/test/batches.test.ts', 'packages/gateway/test/reasoning-events.test.ts'],
  },
  {
    // What was approved and done is shown as expired.
    package: views,
    function: 'Proposals.#expired',
    replace: 'due.filter(isOpen).map(',
    by: 'due.map(',
    tests: ['packages/views/test/proposals.test.ts'],
  },
  {
    // One who takes back what it gave seems to take back what others gave.
    package: views,
    function: 'isMeant',
    replace: 'grant.grantor === from && ',
    by: '',
    tests: ['packages/views/test/holdings.test.ts'],
  },
  {
    // A header's secret is shown.
    package: views,
    function: 'copyObject',
    replace: "isSecretNamed(key, value) || (pair && key === 'value')",
    by: 'isSecretNamed(key, value)',
    tests: ['packages/views/test/redact.test.ts'],
  },
  {
    // The second line of a thought can forge a step or a turn of the audit.
    package: views,
    function: 'quoted',
    replace: 'index > 0 && looksLikeOurs.test(line)',
    by: 'index > 1 && looksLikeOurs.test(line)',
    tests: ['packages/views/test/markdown.test.ts'],
  },
  {
    // Whoever leaves is no longer known, though the operator named it.
    package: views,
    function: 'Presence.#hear',
    replace: "event === 'leave' && !changed.isNamed",
    by: "event === 'leave'",
    tests: ['packages/views/test/people.test.ts'],
  },
  {
    // What was thought before the first label is lost.
    package: views,
    function: 'byLabels',
    replace: "const parts: Part[] = [{ phase: 'thinking', content: before }]",
    by: 'const parts: Part[] = []',
    tests: ['packages/views/test/parse-thinking.test.ts'],
  },
  {
    // Where the clock was put back, later steps stand before earlier ones.
    package: views,
    function: 'Ulids.begin',
    replace: 'Math.max(this.milliseconds, milliseconds)',
    by: 'milliseconds',
    tests: ['packages/views/test/steps.test.ts'],
  },
]
