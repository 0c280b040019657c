import type { Mutant } from './mutant.js'

const cli = 'packages/cli'

export const commands: readonly Mutant[] = [
  // /reasoning prints nothing of the turn [I24].
  {
    package: cli,
    function: 'CommandRunner.runCommand',
    replace: 'return view.print(await inspect(argument, this.#http, live, getStdoutStyle()))',
    by: "return view.print(['nothing'])",
    tests: ['packages/cli/test/slash-commands.test.ts'],
  },
  // Having seen a part is enough to approve the whole.
  {
    package: 'packages/mcp-bridge',
    function: 'ShownProposals.add',
    replace: 'if (start <= known) ',
    by: '',
    tests: ['packages/mcp-bridge/test/serve-proposals.test.ts'],
  },
  // An editor approves what it was not offered to approve.
  {
    package: 'packages/acp',
    function: 'Permissions.#decide',
    replace: 'optionId !== outcome.optionId',
    by: 'optionId === undefined',
    tests: ['packages/acp/test/serve/permissions.test.ts'],
  },
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
  // One of two participants with one token enters as the other.
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
  // An issuer that was removed from the file still lets people in, without a notice.
  {
    package: cli,
    function: 'selectApplicable',
    replace: 'auth: next.auth, ',
    by: '',
    tests: ['packages/cli/test/changes.test.ts'],
  },
  // If an abbreviated id is ambiguous, the first match is revoked or approved.
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
  // A gateway that takes nothing is fine, as long as it answers.
  {
    package: cli,
    function: 'readinessCheck',
    replace: 'ready.ok',
    by: 'ready.status > 0',
    tests: ['packages/cli/test/checks.test.ts'],
  },
  // A program that fails for ever is tried for ever.
  {
    package: cli,
    function: 'RestartDecider.#choose',
    replace: "if (count >= maxFailures) return { rests: 'failures' }",
    by: '',
    tests: ['packages/cli/test/keep-running.test.ts'],
  },
  // A program that was kicked for good comes back as often as it is refused.
  {
    package: cli,
    function: 'KeptProgram.#onEnded',
    replace: 'if (kick !== undefined) {',
    by: 'if (kick?.until !== undefined) {',
    tests: ['packages/cli/test/keep-running.test.ts'],
  },
  // Programs that have joined are not reported while another one is late.
  {
    package: cli,
    function: 'StartReport.onEvent',
    replace: "if (type !== 'starting' && type !== 'started') this.#pending.delete(label)",
    by: "if (type === 'joined') this.#pending.delete(label)",
    tests: ['packages/cli/test/start-report.test.ts'],
  },
  // If one of several names is wrong, the others are restarted.
  {
    package: cli,
    function: 'createControlRequests',
    replace: 'const labels = [...new Set(wanted.map((name) => findProgram(name, supervisor, getConfig())))]',
    by: `const labels = wanted.flatMap((name) => {
        const label = findProgram(name, supervisor, getConfig())
        supervisor?.restart(label)
        return label
      })`,
    tests: ['packages/cli/test/up-programs.test.ts'],
  },
  // The evidence for an explanation takes along what it does not name.
  {
    package: cli,
    function: 'exportEvidence',
    replace: "'body' in record && !seqs.has(record.seq)",
    by: "'body' in record && seqs.size === 0",
    tests: ['packages/cli/test/why.test.ts'],
  },
  // A word is taken for the beginning of an id.
  {
    package: cli,
    function: 'findById',
    replace: 'return found.id === ref || ref.length >= minIdChars ? found : undefined',
    by: 'return found',
    tests: ['packages/cli/test/why.test.ts'],
  },
]
