import type { Reasoning, Turn } from '@meup/agent-sdk'
import { compare, parseLoadReport } from './analysis/load-report.js'
import { admitIgnorance, type Verdict } from './verdict.js'

const reportPath = 'reports/load-test.json'

/** Reviews whether the change is fast enough to deploy, and shows its reasoning. */
export async function review(turn: Turn): Promise<void> {
  await using run = await turn.reason('What does this change do to performance?', {
    references: [reportPath],
  })
  const verdict = await judge(run).catch((error: unknown) => admitIgnorance(run, error))
  await run.conclude(verdict.conclusion)
  await turn.reply(verdict.answer, { format: 'markdown' })
}

async function judge(run: Reasoning): Promise<Verdict> {
  const why = 'How did the service do under load, before and with the change?'
  const report = await run.call('files/read_text_file', { path: reportPath }, { why })
  const measures = compare(parseLoadReport(report.text))
  for (const { figures, limit, isKept } of measures) {
    const judgement = isKept ? 'acceptable' : 'not acceptable'
    // Without a phase, the gateway would classify the thought as a failure, because its text contains the word "error".
    await run.thought(`${figures} is ${judgement}: ${limit} is allowed.`, { phase: 'thinking' })
  }
  const exceeded = measures.filter(({ isKept }) => !isKept)
  if (exceeded.length === 0) {
    return {
      conclusion: 'The performance is acceptable.',
      answer: `Performance: I recommend deploying. ${measures.map(({ figures }) => figures).join(', ')}.`,
    }
  }
  const excess = exceeded.map(({ figures, limit }) => `${figures}, where ${limit} is allowed`)
  return {
    conclusion: 'The change costs too much performance.',
    answer: `Performance: I recommend against deploying. ${excess.join('; ')}.`,
  }
}
