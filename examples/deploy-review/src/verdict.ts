import { type Reasoning, ToolError } from '@meup/agent-sdk'
import { Unreadable } from './analysis/unreadable.js'

/** The result of a review. The conclusion ends the reasoning; the answer goes to the asker. */
export interface Verdict {
  readonly conclusion: string
  readonly answer: string
}

/** For `catch`: turns an unreadable file into a verdict that says so. Rethrows other errors. */
export async function admitIgnorance(run: Reasoning, error: unknown): Promise<Verdict> {
  if (!(error instanceof ToolError || error instanceof Unreadable)) throw error
  await run.thought(`I cannot go on: ${error.message}`, { phase: 'error' })
  return {
    conclusion: 'Without this I cannot judge the change.',
    answer: `I cannot judge this change, so do not count me as in favour: ${error.message}`,
  }
}
