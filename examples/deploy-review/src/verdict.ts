import { type Reasoning, ToolError } from '@meup/agent-sdk'
import { Unreadable } from './analysis/unreadable.js'

/** The result of a review: the conclusion ends the reasoning, the answer goes to the asker. */
export interface Verdict {
  readonly conclusion: string
  readonly answer: string
}

/** For `catch`: what cannot be read cannot be judged, and the answer says so. Other errors are thrown on. */
export async function admitIgnorance(run: Reasoning, error: unknown): Promise<Verdict> {
  if (!(error instanceof ToolError || error instanceof Unreadable)) throw error
  await run.thought(`I cannot go on: ${error.message}`, { phase: 'error' })
  return {
    conclusion: 'Without this I cannot judge the change.',
    answer: `I cannot judge this change, so do not count me as in favour: ${error.message}`,
  }
}
