import { type ErrorCode, errorsOf, ProtocolError } from '@meup/protocol'
import { ProtocolError as McpError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** The messages of a served space to its clients and their models: what happened, with the value. Then what to do. */
export const serveTexts = {
  // Tools, prompts and resources
  unknown_tool: 'There is no tool {tool}. List the tools again, since its participant may have left.',
  unknown_prompt: 'There is no prompt {prompt}. List the prompts again, since its participant may have left.',
  invalid_arguments: 'The arguments of {tool} are invalid: {problems}. Correct them.',
  tool_failed: 'The tool failed: {message}',
  invalid_result: '{participant} returned an invalid {what}. Report that to its developer.',
  too_many_subscriptions: 'This client has {limit} subscriptions. End some of them.',
  not_a_context: '{context} is not a context. Read one such as run or run/step.',
  invalid_turn: '{turn} is not the number of a turn. Turns are numbered from 1.',
  unknown_turn: '{agent} has no readable turn {turn}. Read the latest one instead.',
  forgotten: 'This {what} is no longer known here. Make it again.',
  unsent:
    'The space has not taken the message yet, and still may. Read the transcript before you send it again.',

  // Tasks
  no_task: '{tool} completes at once. Call it without a task.',
  too_many_tasks: 'This client has {limit} open tasks. Cancel some, or wait for their results.',
  unknown_task:
    'The task {task} is unknown, since old tasks are forgotten. Look for its result in the transcript.',
  task_over: 'The task {task} is over: {status}. Only running tasks can be cancelled.',
  task_cancelled: 'The task {task} was cancelled. It has no result.',

  // Proposals
  unknown_proposal: 'No proposal {proposal} is known to be open here. Call list_proposals for the open ones.',
  not_shown:
    'Not all of the proposal {proposal} was shown to this client{since}. Call show_proposal with its id, then with each next_offset. Then approve it, or reject it now.',
  long_proposal:
    'The proposal {proposal} is too long for a form. Show it in full with show_proposal, then give the decision.',
  no_decision: 'This client cannot ask its user. Give the decision.',
  not_an_approval: 'Only an approval can be a task. Give the decision approve, or call it without a task.',

  // HTTP, and messages that cannot be read
  foreign_host:
    'This server takes no requests for "{host}". Start it with --host {name}, or add the name to gateway.hosts in space.yaml.',
  older_transport: 'This server does not speak the older HTTP+SSE. Use Streamable HTTP at {path}.',
  unknown_path: 'There is no such path here. Use {path}.',
  wrong_token: 'This server has no OAuth. Send its token as Authorization: Bearer <token>.',
  unknown_session: 'This session is unknown. Begin another one.',
  unreadable_message: 'The message cannot be read: {problem}. Correct it.',
} as const

const { InternalError, InvalidParams, MethodNotFound } = ProtocolErrorCode

/**
 * Codes of these errors: a number for an MCP error, a string for a tool result that a model reads. All other errors are MCP
 * errors with the code for invalid params.
 */
const codes: Readonly<Partial<Record<keyof typeof serveTexts, ErrorCode | ProtocolErrorCode>>> = {
  ...{ invalid_result: InternalError, too_many_subscriptions: InternalError, no_task: MethodNotFound },
  ...{ invalid_arguments: 'invalid_request', invalid_turn: 'invalid_request', not_shown: 'invalid_request' },
  ...{ long_proposal: 'invalid_request', no_decision: 'invalid_request', not_an_approval: 'invalid_request' },
  ...{ not_a_context: 'not_found', unknown_turn: 'not_found', forgotten: 'not_found' },
  unknown_proposal: 'proposal_not_found',
}

export const serveText = errorsOf(serveTexts, (_, message) => message)

export const serveError = errorsOf(serveTexts, (text, message, details) => {
  const { [text]: code = InvalidParams } = codes
  return typeof code === 'string' ? new ProtocolError(code, message, details) : new McpError(code, message)
})
