import { type AGUIEvent, EventType, type Interrupt, type RunFinishedOutcome } from '@ag-ui/core'
import { type Outcome, type ProposalView, reasonText, type ToolDecision } from '@meup/folds'

/** A thought, as a span of reasoning of its own: what comes between two thoughts is never inside one. */
export const reasoningEvents = (messageId: string, delta: string): AGUIEvent[] => [
  { type: EventType.REASONING_START, messageId },
  { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
  { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta },
  { type: EventType.REASONING_MESSAGE_END, messageId },
  { type: EventType.REASONING_END, messageId },
]

/** What an agent says. Older clients do not take an empty delta. */
export const messageEvents = (messageId: string, name: string, delta: string): AGUIEvent[] => [
  { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', name },
  ...(delta === '' ? [] : [{ type: EventType.TEXT_MESSAGE_CONTENT as const, messageId, delta }]),
  { type: EventType.TEXT_MESSAGE_END, messageId },
]

/** A call or a proposal of one, and why it is made. */
export function callEvents({ id, toolName, rationale, parameters }: ToolDecision): AGUIEvent[] {
  const metadata = rationale === null ? {} : { rationale }
  return [
    { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: toolName, metadata },
    { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: JSON.stringify(parameters) },
    { type: EventType.TOOL_CALL_END, toolCallId: id },
  ]
}

/** Of the message that the result of a call becomes. */
export const resultId = (call: string): string => `${call}-result`

export const resultEvent = (call: string, outcome: Outcome, content: string): AGUIEvent => ({
  type: EventType.TOOL_CALL_RESULT,
  messageId: resultId(call),
  toolCallId: call,
  role: 'tool',
  content,
  metadata: { outcome },
})

/** What a proposal asks of whoever may approve it. */
export const interruptFor = ({ id, source, tool, rationale, expiresAt }: ProposalView): Interrupt => ({
  id,
  reason: 'tool_call',
  message: `${source.from} asks to call ${tool}: ${reasonText(rationale)}`,
  toolCallId: id,
  responseSchema: {
    type: 'object',
    properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
    required: ['approved'],
  },
  ...(expiresAt !== null && { expiresAt }),
})

/** One run of AG-UI, by the names that its client gave it. */
export interface RunName {
  readonly threadId: string
  readonly runId: string
}

export const startedEvent = ({ threadId, runId }: RunName): AGUIEvent => ({
  type: EventType.RUN_STARTED,
  threadId,
  runId,
  protocolVersion: '1.0',
})

export const finishedEvent = ({ threadId, runId }: RunName, outcome: RunFinishedOutcome): AGUIEvent => ({
  type: EventType.RUN_FINISHED,
  threadId,
  runId,
  outcome,
})

export const errorEvent = (code: string, message: string): AGUIEvent => ({
  type: EventType.RUN_ERROR,
  code,
  message,
})
