import { ProgramError } from '@meup/mcp-bridge'
import { errorsOf } from '@meup/protocol'

/**
 * The messages of errors of coding agents: what happened, with the value. Then what to do, unless the program that reads the
 * settings adds it, such as `meup up`.
 */
export const agentTexts = {
  // The start of its process
  not_started: '{command} did not start as a coding agent: {reason}',
  ended_at_once: 'it ended at once: {reason}',
  stopped: 'it was stopped',
  not_introduced:
    'it did not answer initialize within {seconds} s. Check that it speaks ACP on stdio with these arguments',
  other_version:
    'it speaks version {version} of ACP, and meup version {own}. Install a release of it that speaks version {own}',

  // Sessions and prompts
  ended: 'the agent ended: {reason}. Ask again to start it.',
  no_session: 'the agent cannot open a session: {reason}',
  login_needed: 'the agent cannot open a session: {reason}. If it asks for a login: {login}.',
  late: 'the agent did not answer {method} within {seconds} s. Ask again to start it.',
  unknown_mode: 'the agent has no mode {mode}. Choose one of {modes}.',
  cancelled: 'the agent cancelled it. Ask again.',
  no_answer: 'the agent gave no answer. Ask again in other words.',

  // Permissions and calls
  large_call: 'its arguments have {bytes} bytes, and {limit} can be decided here',
  many_choices: 'it is a choice between {count} ways, and at most {limit} can be proposed: {names}',
  no_choice: 'no one chose between {names}: {reason}',
  no_approver: 'no one could be asked: {reason}',
  settled: '{agent} no longer waits for a decision. Nothing was done.',
  own_tools: 'only {agent} starts its own tools. Ask it in a message.',
} as const

export const agentText = errorsOf(agentTexts, (_, message) => message)

export const agentError = errorsOf(
  agentTexts,
  (code, message, details, options?: ErrorOptions) => new ProgramError(code, message, details, options),
)
