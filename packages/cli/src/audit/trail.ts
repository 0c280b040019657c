import type { DialRequest } from '@meup/agent-sdk'
import { brief, onOneLine, type ReasoningStep } from '@meup/folds'
import { type ConnectionFlags, destination } from '../connection.js'
import { exitCodes } from '../exit.js'
import { print, printJson, tell } from '../output.js'
import { ask } from '../reading.js'
import { threadOf, turnsAsked } from '../reasoning/read-turns.js'
import { pastOf } from '../trust/terms.js'

export interface TrailFlags extends ConnectionFlags {
  readonly thread?: string
  readonly turn?: string
  readonly phase?: string
  readonly from?: readonly string[]
  readonly since?: string
  readonly until?: string
}

/** A step of the audit with its turn, as the HTTP API tells it. */
export interface TrailStep extends Omit<ReasoningStep, 'source'> {
  readonly seq: number
  readonly thread_id: string
  /** `null` for a job. */
  readonly turn_number: number | null
}

interface Page {
  readonly steps: readonly TrailStep[]
  /** Where the next page begins; absent = this was the last. */
  readonly next?: number
}

/** Steps in one answer; the most that a gateway gives. */
const pageSize = 1000
/** Characters of a step that people are shown. */
const longest = 200

/** `meup audit trail`: what agents thought, did and were refused; the last `limit` steps of it, oldest first. */
export async function printTrail(limit: number, flags: TrailFlags): Promise<void> {
  const at = destination(flags)
  const steps = await readSteps(at, limit, flags)
  if (steps.length === 0 && !(await isThere(at, flags))) {
    process.exitCode = exitCodes.error
    tell(`there is no turn ${flags.turn} of ${flags.thread}`)
    return
  }
  for (const step of steps.reverse()) {
    if (flags.json) printJson(step)
    else print(trailLine(step))
  }
}

/** Whether there is the turn that is asked for, if one is: it may have no such steps. */
async function isThere(at: DialRequest, { thread, turn }: TrailFlags): Promise<boolean> {
  if (thread === undefined || turn === undefined) return true
  return (await turnsAsked(at, threadOf(at.space, thread), turn)).length > 0
}

/** The newest first. */
async function readSteps(at: DialRequest, limit: number, flags: TrailFlags): Promise<TrailStep[]> {
  const { thread, turn, phase, from, since, until } = flags
  const query = {
    ...(thread !== undefined && { thread_id: threadOf(at.space, thread) }),
    ...(turn !== undefined && { turn }),
    ...(phase !== undefined && { phase }),
    ...(from !== undefined && { from: from.join() }),
    ...(since !== undefined && { since: timeText(since, '--since') }),
    ...(until !== undefined && { until: timeText(until, '--until') }),
    limit: `${Math.min(limit, pageSize)}`,
  }
  const found: TrailStep[] = []
  let before: number | undefined
  do {
    const place = before === undefined ? {} : { before: `${before}` }
    const page: Page = await ask<Page>(at, 'audit', { ...query, ...place })
    found.push(...page.steps)
    before = page.next
  } while (before !== undefined && found.length < limit)
  return found.slice(0, limit)
}

const timeText = (text: string, flag: string): string => new Date(pastOf(text, flag)).toISOString()

/** One step on a line: when, whose turn, what kind of step, what it says, and what it is about. */
export function trailLine(step: TrailStep): string {
  const { created_at, thread_id, turn_number, phase, content } = step
  const agent = onOneLine(thread_id.slice(thread_id.indexOf('/') + 1))
  const turn = turn_number === null ? 'job' : `turn ${turn_number}`
  const links = [
    step.linked_tool_call === null ? '' : ` (tool_call: ${step.linked_tool_call})`,
    step.linked_policy_decision === null ? '' : ` (policy: ${step.linked_policy_decision})`,
    step.linked_approval_request === null ? '' : ` (approval: ${step.linked_approval_request})`,
  ]
  return `${created_at}  ${agent} ${turn}  ${phase}: ${brief(content, longest)}${links.join('')}`
}
