import { type Guard, redact, toRightInfo } from '@meup/folds'
import type { DecisionPayload, Envelope } from '@meup/protocol'
import { namespaceOf, omitUndefined, parseExact } from '@meup/protocol'
import type { Context } from 'hono'
import { isRefusal } from '../core/refusal.js'
import type { Space } from '../core/space.js'
import { readAudit } from '../index/read-audit.js'
import { type AuditStep, Steps } from '../index/steps.js'
import type { Message } from '../ports/connection.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import {
  authenticateReader,
  chargeView,
  checkThread,
  checkThreadExists,
  createReader,
  getAgent,
  readView,
  respondPage,
} from './views.js'

/**
 * `GET /spaces/{space}/audit`: steps of agents, such as thoughts and calls, and decisions of the gateway, such as denials;
 * newest first [MEUP-11.6].
 */
export async function getAudit(
  context: Context,
  options: HttpOptions,
  asked: ParsedQuery<'before' | 'limit' | 'from' | 'since' | 'until' | 'thread_id' | 'turn' | 'phase'>,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)

  const { space, turns } = visitor
  const wrong = checkThread(asked, space)
  if (wrong !== undefined) return refused(wrong)
  const {
    before = Number.MAX_SAFE_INTEGER,
    limit = 100,
    thread_id: thread,
    phase,
    from,
    since,
    until,
  } = asked
  const query = {
    limit,
    ...(thread !== undefined && { thread: getAgent(thread) }),
    ...omitUndefined({ number: asked.turn }),
    ...(phase && { phases: [phase] }),
    ...(from && { agents: from }),
    ...omitUndefined({ since, until }),
  }
  const reader = createReader(visitor, context, options)
  const page = await readView(visitor, options, (index, head) =>
    readAudit(
      space,
      new Steps(index, turns.folded, space, reader),
      { ...query, before: Math.min(before, head + 1) },
      (characters) => chargeView(visitor, characters),
    ),
  )
  if (isRefusal(page)) return refused(page)
  const { steps, decisions, next } = page
  const masking = { digest: space.safety.digest, guard: (text: string) => space.safety.guard(text) }
  const isEmpty = steps.length === 0 && next === undefined
  const unknown = thread !== undefined && isEmpty ? checkThreadExists(thread, space) : undefined
  if (unknown !== undefined) return refused(unknown)
  return respondPage(
    visitor,
    context,
    {
      steps: steps.map((step) => describeStep(step, masking)),
      decisions: decisions.map(describeDecision),
    },
    next,
  )
}

/** A step as a table row with fields of its turn. Written field by field, because there are many rows. */
function describeStep(
  { step, turn, fulfils, right }: AuditStep,
  { digest: rules, guard }: Pick<Space['safety'], 'digest'> & { readonly guard: Guard },
): Record<string, unknown> {
  return {
    id: step.id,
    turn_id: step.turn_id,
    step_number: step.step_number,
    phase: step.phase,
    content: step.content,
    linked_tool_call: step.linked_tool_call,
    linked_policy_decision: step.linked_policy_decision,
    linked_approval_request: step.linked_approval_request,
    created_at: step.created_at,
    seq: step.source.seq,
    thread_id: turn.threadId,
    turn_number: turn.turnNumber,
    timestamp: turn.startedAt,
    state: turn.state,
    input_source: turn.inputSource,
    asked_by: turn.trigger?.source.from ?? null,
    ...describeCall(step, turn, fulfils, guard),
    // Only MCP envelopes are masked by these rules: thoughts were already masked before they were logged.
    ...(namespaceOf(step.source.kind) === 'mcp' && { redacted_by: rules }),
    ...toRightInfo(right),
  }
}

/** Reason and arguments of the call or proposal of a step. A request that fulfils a proposal has those of the proposal. */
function describeCall(
  { linked_tool_call: call, linked_approval_request: proposal }: AuditStep['step'],
  { decisions }: AuditStep['turn'],
  fulfils: AuditStep['fulfils'],
  guard: Guard,
): object {
  const decision = decisions.find(({ id }) => id === call || id === proposal || fulfils.includes(id))
  if (decision === undefined) return {}
  const { rationale, parameters } = decision
  return { ...(rationale !== null && { rationale }), parameters: redact(parameters, guard).value }
}

const decoder = new TextDecoder()

function describeDecision({ text }: Message): Record<string, unknown> {
  const { id, seq, ts, to, payload } = parseExact(decoder.decode(text)) as Envelope
  const { decision, reasonCode, message, context, count, ...attempted } = payload as DecisionPayload
  return {
    id,
    seq,
    ts,
    participant: to?.[0],
    decision,
    reason_code: reasonCode,
    message,
    attempted_kind: attempted.attemptedKind,
    attempted_tool: attempted.attemptedTool,
    attempted_rationale: attempted.attemptedRationale,
    attempted_arguments: attempted.attemptedArguments,
    attempted_correlation: attempted.attemptedCorrelation,
    attempted_id: attempted.attemptedId,
    missing: attempted.missing,
    context,
    count,
  }
}
