import type { Mutant } from './mutant.js'

const cli = 'packages/cli'

export const commands: readonly Mutant[] = [
  // A file with mistakes is used where its values have the right shape: a secret that is not set is empty.
  {
    package: cli,
    function: 'parseFile',
    replace: 'checked === undefined || problems.length > 0',
    by: 'checked === undefined',
    tests: ['packages/cli/test/config-text.test.ts'],
  },
  // A variable that is there but empty gets no default.
  {
    package: cli,
    function: 'expandText',
    replace: 'return value || fallback',
    by: 'return value ?? fallback',
    tests: ['packages/cli/test/config-text.test.ts'],
  },
  // Of two with one token, one enters as the other.
  {
    package: cli,
    function: 'ensureTokens',
    replace: 'for (const { id } of findSharedTokens(tokens)) tokens.delete(id)',
    by: '',
    tests: ['packages/cli/test/tokens.test.ts'],
  },
  // A script that checks the log takes a damaged one for whole.
  {
    package: cli,
    function: 'printVerdict',
    replace: 'if (!verdict.ok) process.exitCode = exitCodes.auditMismatch',
    by: '',
    tests: ['packages/cli/test/audit-verify.test.ts'],
  },
  // An issuer that was taken out of the file goes on letting people in, and nobody is told.
  {
    package: cli,
    function: 'selectApplicable',
    replace: 'auth: next.auth, ',
    by: '',
    tests: ['packages/cli/test/changes.test.ts'],
  },
  // Where the beginning of an id may be of several, the first of them is revoked, or approved.
  {
    package: cli,
    function: 'findByPrefix',
    replace: 'if (first === undefined || others.length === 0) return first',
    by: 'return first',
    tests: ['packages/cli/test/terms.test.ts'],
  },
  // A recording in which a line is twice is played as if it were whole.
  {
    package: cli,
    function: 'readEnvelopes',
    replace: 'seq <= last',
    by: 'seq < last',
    tests: ['packages/cli/test/replay-recordings.test.ts'],
  },
]
