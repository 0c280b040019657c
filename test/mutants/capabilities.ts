import type { Mutant } from './mutant.js'

/**
 * Wrong edits of capabilities (what they match, and whether one includes another), and of the parsing of envelopes before their
 * rights are checked. The comment of each says what goes wrong.
 */
export const capabilities: readonly Mutant[] = [
  // The exclusion in `['read_*', '!read_secret*']` is ignored.
  {
    package: 'protocol',
    function: 'framedQuestions',
    replace: '[taken, ...refused]',
    by: '[taken]',
    tests: ['protocol/test/vectors.test.ts', 'protocol/test/capability-property.test.ts'],
  },
  // A text that is too long to be matched passes an exclusion.
  {
    package: 'protocol',
    function: 'compileChoice',
    replace: 'compileString(node, true)',
    by: 'compileString(node, false)',
    tests: ['protocol/test/capability-limits.test.ts'],
  },
  // Globs with more than 32 tokens match wrong texts, because the bit carried from one 32-bit word to the next has the wrong
  // sign.
  {
    package: 'protocol',
    function: 'advance',
    replace: 'carried = moved >>> 31',
    by: 'carried = moved >> 31',
    tests: ['protocol/test/capability.test.ts', 'protocol/test/capability-property.test.ts'],
  },
  // A participant that may write to one addressee can grant the right to write to everyone.
  {
    package: 'protocol',
    function: 'included',
    replace: '(a !== undefined && includes(h, a, work))',
    by: 'a === undefined || includes(h, a, work)',
    tests: ['protocol/test/capability-covers.test.ts', 'protocol/test/vectors.test.ts'],
  },
  // A list counts as excluded if only one of its alternatives is excluded.
  {
    package: 'protocol',
    function: 'excluded',
    replace: 'some.every((other) => disjoint(other, node, work))',
    by: 'some.some((other) => disjoint(other, node, work))',
    tests: ['protocol/test/capability-covers.test.ts'],
  },
  // A check that runs out of steps leaves an incomplete list of capabilities in the cache, which later checks of the same kind
  // use.
  {
    package: 'protocol',
    function: 'candidatesFor',
    replace: 'tests[at]?.(wireKind, own)',
    by: 'tests[at]?.(wireKind, new StepBudget(1))',
    tests: ['protocol/test/capability-limits.test.ts'],
  },
  // A misspelt condition is ignored, so that the capability allows more than intended.
  {
    package: 'protocol',
    function: 'parseEnvelope',
    replace: "field !== 'kind'",
    by: "field === ''",
    tests: ['protocol/test/capability-limits.test.ts', 'packages/gateway/test/grants.test.ts'],
  },
  // If the key `payload` is written with escapes, the payload is checked, but an empty one is logged and delivered.
  {
    package: 'protocol',
    function: 'isNamed',
    replace: 'return JSON.parse(decoder.decode(bytes.subarray(keyStart, keyEnd))) === name',
    by: 'return false',
    tests: ['protocol/test/canonical.test.ts', 'protocol/test/vectors.test.ts'],
  },
  // A request may differ from the approved proposal in members of `_meta` in the arguments.
  {
    package: 'protocol',
    function: 'object',
    replace: 'value(next())',
    by: 'value(next(), without)',
    tests: ['protocol/test/canonical.test.ts', 'packages/gateway/test/proposal-matching.test.ts'],
  },
  // In a chat with both `message` and a different `text`, `text` is silently lost.
  {
    package: 'protocol',
    function: 'normalise',
    replace: 'body[name] !== body[alias]',
    by: 'typeof body[name] !== typeof body[alias]',
    tests: ['protocol/test/vectors.test.ts', 'packages/gateway/test/refusals.test.ts'],
  },
  // The context `run-10` counts as nested in `run-1`.
  {
    package: 'protocol',
    function: 'isContextAncestor',
    replace: " && path[ancestor.length] === '/'",
    by: '',
    tests: ['protocol/test/vectors.test.ts', 'protocol/test/context.test.ts'],
  },
  // Thoughts of unknown kinds do not require a context, so they belong to no run and cannot be hidden.
  {
    package: 'protocol',
    function: 'getKindRule',
    replace: 'kindRules[Kind.reasoningThought]',
    by: 'kindRules[Kind.reasoningStart]',
    tests: ['protocol/test/kinds.test.ts', 'protocol/test/vectors.test.ts'],
  },
]
