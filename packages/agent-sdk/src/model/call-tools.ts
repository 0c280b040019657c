import { cut } from '@meup/folds'
import { omitUndefined, ProtocolError } from '@meup/protocol'
import { frameResult, quoteForPrompt } from '../agent/frame-message.js'
import type { ParallelGroups } from '../agent/reasoning.js'
import type { BaseClient } from '../client/base-client.js'
import { ConnectionError, ToolError } from '../client/errors.js'
import { ProposalError } from '../client/proposal.js'
import { retryAfterPause } from '../client/retry.js'
import type { ToolResult } from '../client/tool-result.js'
import type { CallOptions } from '../client/types.js'
import type { Act } from './colleagues.js'
import type { CallResult, WantedCall } from './dialogue.js'
import { parseExactJson } from './exact-arguments.js'
import { restoreNames } from './fit-schema.js'
import { chooseRationale, isRecord, splitRationale } from './rationale.js'
import { cutMiddle, type ShownResult, type ShowOptions, showResult } from './results.js'
import type { OfferedTool } from './toolbox.js'

/** The JSON-RPC code for invalid params. */
const invalidParams = -32602

export interface CallToolsOptions {
  readonly client: BaseClient
  readonly tools: ReadonlyMap<string, OfferedTool | Act>
  readonly groups: ParallelGroups
  /** Text of the step, apart from the calls; a possible reason for them. */
  readonly commentary: string
  readonly summary: string
  /** How results are formatted for the model. */
  readonly show: ShowOptions
  readonly options: Pick<CallOptions, 'context' | 'correlationId' | 'signal' | 'timeoutMs' | 'approvalMs'>
}

export interface CallOutcome {
  readonly results: readonly CallResult[]
  /** Error messages about invalid calls, such as calls of unknown tools. */
  readonly misuses: readonly string[]
}

interface Call {
  readonly tool: string
  /** Carries out the call if the tool belongs to the agent itself; absent = the call is sent to the space. */
  readonly act: Act['act'] | undefined
  readonly args: Readonly<Record<string, unknown>>
  readonly why: string | undefined
}

/**
 * Makes the calls of one step concurrently. Returns their results in the order of the calls. The results of failed calls are
 * texts for the model. Rejects only if it is aborted or the connection is closed.
 */
export async function callTools(
  wanted: readonly WantedCall[],
  parts: CallToolsOptions,
): Promise<CallOutcome> {
  const checked = wanted.map((each) => checkCall(each, parts))
  const runnable = checked.filter((each) => typeof each !== 'string' && each.act === undefined).length
  const group = runnable > 1 ? { parallelGroup: parts.groups.next() } : {}
  const misuses: string[] = []
  const results = checked.map(async (call, index): Promise<CallResult> => {
    const { id = '', name = '' } = wanted[index] ?? {}
    try {
      if (typeof call === 'string') throw new ToolError(call, invalidParams)
      return { id, name, ...showResult(await makeCall(call, group, parts), parts.show), isError: false }
    } catch (error) {
      if (parts.options.signal?.aborted) throw error
      if (error instanceof ToolError && error.code === invalidParams) misuses.push(error.message)
      return { id, name, ...showError(error, parts.show), isError: true }
    }
  })
  return { results: await Promise.all(results), misuses }
}

/** Returns the call, or the reason why it is invalid. The tool itself validates its arguments. */
function checkCall({ name, json }: WantedCall, parts: CallToolsOptions): Call | string {
  const tool = parts.tools.get(name)
  if (tool === undefined) return `there is no tool ${name}`
  const input = parseExactJson(json)
  if (!isRecord(input))
    return `the arguments of ${name} are not a JSON object, or are cut off: ${cut(json, 100)}`
  const { args, rationale: given } = splitRationale(input, tool.rationaleKey)
  const { required } = tool.inputSchema
  const missing = (Array.isArray(required) ? required : []).filter((key) => !(String(key) in args))
  if (missing.length > 0) return `${name} needs the arguments ${missing.join(', ')}`
  const { commentary, summary } = parts
  const why = chooseRationale({ given, args, commentary, summary })
  const sent = restoreNames(args, tool.propertyNames)
  const act = 'act' in tool ? tool.act : undefined
  return { tool: `${tool.participant}/${tool.name}`, act, args: sent, why }
}

function makeCall(
  { tool, act, args, why }: Call,
  group: { parallelGroup?: number },
  parts: CallToolsOptions,
): Promise<ToolResult> {
  const { client, options } = parts
  if (act !== undefined) return act(args, options.signal)
  const call = () => client.call(tool, args, { ...options, ...group, ...omitUndefined({ why }) })
  return retryAfterPause(client, call, options.signal)
}

/** Formats an error for the model. Rethrows errors that do not come from the call. */
export function showError(error: unknown, show: ShowOptions): ShownResult {
  const result = error instanceof ToolError ? error.result : undefined
  if (result !== undefined && result.content.length > 0) return showResult(result, show)
  return { text: formatError(error, show.maxChars), media: [] }
}

function formatError(error: unknown, maxChars: number): string {
  const quote = (text: string): string => quoteForPrompt(cutMiddle(text, maxChars))
  if (error instanceof ToolError) return frameResult(cutMiddle(error.message, maxChars)) || 'the tool failed'
  if (error instanceof ProposalError) return `This needed an approval, and got none: ${quote(error.message)}`
  if (error instanceof ProtocolError) return `The space refused the call: ${quote(error.message)}`
  if (error instanceof ConnectionError && (error.code === 'timeout' || error.code === 'participant_away'))
    return `The tool did not answer: ${quote(error.message)}`
  throw error
}
