import type { Mutant } from './mutant.js'

/** The meaning and coverage of capabilities, and the parsing of envelopes before decisions. */
export const capabilities: readonly Mutant[] = [
  // The exclusion in `['read_*', '!read_secret*']` is lost.
  {
    package: 'protocol',
    function: 'framedQuestions',
    replace: '[taken, ...refused]',
    by: '[taken]',
    tests: ['protocol/test/vectors.test.ts', 'protocol/test/capability-property.test.ts'],
  },
  // A text that is too long to be decided on gets past whatever excludes it.
  {
    package: 'protocol',
    function: 'compileChoice',
    replace: 'compileString(node, true)',
    by: 'compileString(node, false)',
    tests: ['protocol/test/capability-limits.test.ts'],
  },
  // Globs with more than 32 tokens match what they should not: the carry has the wrong sign.
  {
    package: 'protocol',
    function: 'advance',
    replace: 'carried = moved >>> 31',
    by: 'carried = moved >> 31',
    tests: ['protocol/test/capability.test.ts', 'protocol/test/capability-property.test.ts'],
  },
  // The right to write to one participant allows granting the right to write to everyone.
  {
    package: 'protocol',
    function: 'included',
    replace: '(a !== undefined && includes(h, a, work))',
    by: 'a === undefined || includes(h, a, work)',
    tests: ['protocol/test/capability-covers.test.ts', 'protocol/test/vectors.test.ts'],
  },
  // One alternative outside an exclusion counts for all of them.
  {
    package: 'protocol',
    function: 'excluded',
    replace: 'some.every((other) => disjoint(other, node, work))',
    by: 'some.some((other) => disjoint(other, node, work))',
    tests: ['protocol/test/capability-covers.test.ts'],
  },
  // A check with a small budget decides which capabilities of a kind later checks consider.
  {
    package: 'protocol',
    function: 'candidatesFor',
    replace: 'tests[at]?.(wireKind, own)',
    by: 'tests[at]?.(wireKind, new StepBudget(1))',
    tests: ['protocol/test/capability-limits.test.ts'],
  },
  // A misspelt condition is ignored: its holder may do more than intended.
  {
    package: 'protocol',
    function: 'parseEnvelope',
    replace: "field !== 'kind'",
    by: "field === ''",
    tests: ['protocol/test/capability-limits.test.ts', 'packages/gateway/test/grants.test.ts'],
  },
  // A payload whose key is written with escapes is checked, but an empty one is logged and delivered.
  {
    package: 'protocol',
    function: 'isNamed',
    replace: 'return JSON.parse(decoder.decode(bytes.subarray(keyStart, keyEnd))) === name',
    by: 'return false',
    tests: ['protocol/test/canonical.test.ts', 'protocol/test/vectors.test.ts'],
  },
  // Members under `_meta` in the arguments may differ from the approved proposal.
  {
    package: 'protocol',
    function: 'object',
    replace: 'value(next())',
    by: 'value(next(), without)',
    tests: ['protocol/test/canonical.test.ts', 'packages/gateway/test/proposal-matching.test.ts'],
  },
  // In a chat with both `message` and a different `text`, the second is silently lost.
  {
    package: 'protocol',
    function: 'normalise',
    replace: 'body[name] !== body[alias]',
    by: 'typeof body[name] !== typeof body[alias]',
    tests: ['protocol/test/vectors.test.ts', 'packages/gateway/test/refusals.test.ts'],
  },
  // `run-10` is taken for a part of `run-1`.
  {
    package: 'protocol',
    function: 'isContextAncestor',
    replace: " && path[ancestor.length] === '/'",
    by: '',
    tests: ['protocol/test/vectors.test.ts', 'protocol/test/context.test.ts'],
  },
  // Thoughts of other kinds need no context: they belong to no run, so they cannot be hidden.
  {
    package: 'protocol',
    function: 'getKindRule',
    replace: 'kindRules[Kind.reasoningThought]',
    by: 'kindRules[Kind.reasoningStart]',
    tests: ['protocol/test/kinds.test.ts', 'protocol/test/vectors.test.ts'],
  },
]
