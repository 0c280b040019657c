import type { Mutant } from './mutant.js'

const cli = 'packages/cli'

/** Wrong edits of the command-line program. The comment of each says what goes wrong. */
export const commands: readonly Mutant[] = [
  // `/reasoning` does not print the turn [I24].
  {
    package: cli,
    function: 'CommandRunner.runCommand',
    replace: 'return view.print(await inspect(argument, this.#http, live, getStdoutStyle()))',
    by: "return view.print(['nothing'])",
    tests: ['packages/cli/test/slash-commands.test.ts'],
  },
  // A user who has seen a part of a proposal can approve the whole.
  {
    package: 'packages/mcp-bridge',
    function: 'ShownProposals.add',
    replace: 'if (start <= known) ',
    by: '',
    tests: ['packages/mcp-bridge/test/serve-proposals.test.ts'],
  },
  // An editor can choose an option that it was not offered.
  {
    package: 'packages/acp',
    function: 'Permissions.#decide',
    replace: 'optionId !== outcome.optionId',
    by: 'optionId === undefined',
    tests: ['packages/acp/test/serve/permissions.test.ts'],
  },
  // A space.yaml with errors is used if its values have the right types, so that a missing secret is replaced by an empty text.
  {
    package: cli,
    function: 'parseFile',
    replace: 'checked === undefined || problems.length > 0',
    by: 'checked === undefined',
    tests: ['packages/cli/test/config-text.test.ts'],
  },
  // An empty environment variable in space.yaml is not replaced by its default.
  {
    package: cli,
    function: 'expandText',
    replace: 'return value || fallback',
    by: 'return value ?? fallback',
    tests: ['packages/cli/test/config-text.test.ts'],
  },
  // If two participants have the same token, one of them connects as the other.
  {
    package: cli,
    function: 'ensureTokens',
    replace: 'for (const { id } of findSharedTokens(tokens)) tokens.delete(id)',
    by: '',
    tests: ['packages/cli/test/tokens.test.ts'],
  },
  // `meup audit verify` exits with 0 for a damaged log.
  {
    package: cli,
    function: 'printVerdict',
    replace: 'if (!verdict.ok) process.exitCode = exitCodes.auditMismatch',
    by: '',
    tests: ['packages/cli/test/audit-verify.test.ts'],
  },
  // An issuer that was removed from the file still admits participants, without a notice.
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
  // A recording with a repeated line is replayed as if it were correct.
  {
    package: cli,
    function: 'readEnvelopes',
    replace: 'seq <= last',
    by: 'seq < last',
    tests: ['packages/cli/test/replay-recordings.test.ts'],
  },
  // A gateway that is not ready counts as healthy if it answers at all.
  {
    package: cli,
    function: 'readinessCheck',
    replace: 'ready.ok',
    by: 'ready.status > 0',
    tests: ['packages/cli/test/checks.test.ts'],
  },
  // A program that always fails is restarted without end.
  {
    package: cli,
    function: 'RestartDecider.#choose',
    replace: "if (count >= maxFailures) return { rests: 'failures' }",
    by: '',
    tests: ['packages/cli/test/keep-running.test.ts'],
  },
  // A program that was kicked permanently is restarted each time it is refused.
  {
    package: cli,
    function: 'KeptProgram.#onEnded',
    replace: 'if (kick !== undefined) {',
    by: 'if (kick?.until !== undefined) {',
    tests: ['packages/cli/test/keep-running.test.ts'],
  },
  // A program that ends while others start is not removed from the report, which waits for it.
  {
    package: cli,
    function: 'StartReport.onEvent',
    replace: "if (type !== 'starting' && type !== 'started') this.#pending.delete(label)",
    by: "if (type === 'joined') this.#pending.delete(label)",
    tests: ['packages/cli/test/start-report.test.ts'],
  },
  // `meup restart` with several names restarts the programs that it finds, although one of the names is wrong.
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
  // The evidence for an explanation includes envelopes that the explanation does not name.
  {
    package: cli,
    function: 'exportEvidence',
    replace: "'body' in record && !seqs.has(record.seq)",
    by: "'body' in record && seqs.size === 0",
    tests: ['packages/cli/test/why.test.ts'],
  },
  // A short word counts as the beginning of an id.
  {
    package: cli,
    function: 'findById',
    replace: 'return found.id === ref || ref.length >= minIdChars ? found : undefined',
    by: 'return found',
    tests: ['packages/cli/test/why.test.ts'],
  },
]
