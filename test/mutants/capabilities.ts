import type { Mutant } from './mutant.js'

/** What capabilities allow and cover, and how envelopes are read before anything is decided on them. */
export const capabilities: readonly Mutant[] = [
  // Of `['read_*', '!read_secret*']` the exclusion is lost.
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
  // Whoever may write to one participant gives the right to write to everyone.
  {
    package: 'protocol',
    function: 'included',
    replace: '(a !== undefined && includes(h, a, work))',
    by: 'a === undefined || includes(h, a, work)',
    tests: ['protocol/test/capability-covers.test.ts', 'protocol/test/vectors.test.ts'],
  },
  // One alternative that an exclusion does not hit stands for all of them.
  {
    package: 'protocol',
    function: 'excluded',
    replace: 'some.every((other) => disjoint(other, node, work))',
    by: 'some.some((other) => disjoint(other, node, work))',
    tests: ['protocol/test/capability-covers.test.ts'],
  },
  // After one subscription has been asked, all checks of the process share what it has left of its steps.
  {
    package: 'protocol',
    function: 'checkWithin',
    replace: 'isShared = false',
    by: '',
    tests: ['protocol/test/capability-limits.test.ts'],
  },
  // A condition that is misspelt is no condition: its holder may do more than was meant.
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
  // What is nested under `_meta` in the arguments may be another than what was proposed and approved.
  {
    package: 'protocol',
    function: 'object',
    replace: 'value(next())',
    by: 'value(next(), without)',
    tests: ['protocol/test/canonical.test.ts', 'packages/gateway/test/proposal-matching.test.ts'],
  },
  // Of a chat with both `message` and another `text`, the second is lost without a word.
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
  // Thoughts of other kinds need no context: they belong to no run, so nobody can hide them.
  {
    package: 'protocol',
    function: 'getKindRule',
    replace: 'kindRules[Kind.reasoningThought]',
    by: 'kindRules[Kind.reasoningStart]',
    tests: ['protocol/test/kinds.test.ts', 'protocol/test/vectors.test.ts'],
  },
]
