import { type Reasoning, ToolError, type Turn } from '@meup/agent-sdk'
import { type Hunk, parseDiff } from './analysis/diff.js'
import { findRemovedChecks, findWaysAround } from './analysis/expiry.js'
import { type FailedTest, parseTestReport, type TestReport } from './analysis/test-report.js'
import { admitIgnorance, type Verdict } from './verdict.js'

const readFile = 'files/read_text_file'
const diffPath = 'changes/auth-token.diff'
const testsPath = 'reports/security-tests.json'

/** Reviews whether the change in the repository is safe to deploy, and shows its reasoning. */
export async function review(turn: Turn): Promise<void> {
  await using run = await turn.reason('What does this change do to security?', {
    references: [diffPath, testsPath],
  })
  const verdict = await judge(run).catch((error: unknown) => admitIgnorance(run, error))
  await run.conclude(verdict.conclusion)
  await turn.reply(verdict.answer, { format: 'markdown' })
}

async function judge(run: Reasoning): Promise<Verdict> {
  const [diff, report] = await run.parallel([
    { tool: readFile, args: { path: diffPath }, why: 'Which lines change?' },
    { tool: readFile, args: { path: testsPath }, why: 'Do the security tests pass with the change?' },
  ])
  const hunks = parseDiff(diff.text)
  const tests = parseTestReport(report.text)

  await run.thought(`The change touches ${[...new Set(hunks.map(({ file }) => file))].join(', ')}.`)
  const objections = findRemovedChecks(hunks).map(
    ({ place, code }) => `The expiry check \`${code}\` (${place}) is gone.`,
  )
  for (const objection of objections) await run.thought(objection)
  // Failed tests are a finding of the review, not an error of this agent.
  await run.thought(`${tests.failed.length} of ${tests.total} security tests failed.`, { phase: 'thinking' })
  if (tests.failed.length > 0) objections.push(summarize(tests), await explain(run, tests.failed, hunks))
  if (objections.length === 0) {
    const reasons = `All ${tests.total} security tests passed, and the change removes no expiry check.`
    return {
      conclusion: 'I see no security risk in this change.',
      answer: `Security: I recommend deploying. ${reasons}`,
    }
  }
  objections.push(await weighRollback(run))
  return {
    conclusion: 'The security risk is too high.',
    answer: `Security: I recommend against deploying. ${objections.join(' ')}`,
  }
}

const summarize = ({ total, failed }: TestReport): string =>
  `${failed.length} of ${total} security tests failed: ${failed.map(({ name }) => `"${name}"`).join(', ')}.`

/** Looks for the changed lines that make the tests fail, in a nested context. */
async function explain(
  run: Reasoning,
  failed: readonly FailedTest[],
  hunks: readonly Hunk[],
): Promise<string> {
  await using search = await run.reason('Which of the changed lines make these tests fail?')
  for (const { name, message } of failed)
    await search.thought(`"${name}" failed: ${message}`, { phase: 'thinking' })
  const isAboutExpiry = failed.some(({ name }) => /expir/i.test(name))
  const suspects = isAboutExpiry ? findWaysAround(hunks) : []
  for (const { place, code } of suspects) {
    await search.thought(`${place} is new and returns before the expiry is looked at: ${code}`)
  }
  const cause =
    suspects.length > 0
      ? `The likely cause is ${suspects.map(({ place, code }) => `\`${code}\` (${place})`).join(', ')}.`
      : 'I found no changed line that explains it.'
  await search.conclude(cause)
  return cause
}

/** Considers the rollback plan: it is useful, but does not undo access that an attacker already had. */
async function weighRollback(run: Reasoning): Promise<string> {
  try {
    const plan = await run.call(readFile, { path: 'docs/rollback.md' }, { why: 'How fast could we go back?' })
    const time = /^Time needed: .*$/m.exec(plan.text)?.[0] ?? 'it does not say how long it takes'
    await run.thought(`There is a rollback plan (${time}), but it undoes nothing that happens until then.`)
    return 'Even with the rollback plan, that is too risky.'
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    await run.thought(`The rollback plan cannot be read: ${error.message}`, { phase: 'error' })
    return 'There is no rollback plan that I could read, either.'
  }
}
