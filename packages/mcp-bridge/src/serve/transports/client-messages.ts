import { isObject } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import { keepExactArguments } from '../../exact-numbers.js'
import { describeValue, type Fault, readMessages } from '../../relay/read-message.js'

/** Limit of a line, and of a request body. */
export const maxMessageBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** Schemas of client messages by method. Other methods have no known parameters, or are refused by the SDK. */
const schemas = {
  initialize: specTypeSchemas.InitializeRequest,
  ping: specTypeSchemas.PingRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
  'resources/list': specTypeSchemas.ListResourcesRequest,
  'resources/templates/list': specTypeSchemas.ListResourceTemplatesRequest,
  'resources/read': specTypeSchemas.ReadResourceRequest,
  'resources/subscribe': specTypeSchemas.SubscribeRequest,
  'resources/unsubscribe': specTypeSchemas.UnsubscribeRequest,
  'prompts/list': specTypeSchemas.ListPromptsRequest,
  'prompts/get': specTypeSchemas.GetPromptRequest,
  'completion/complete': specTypeSchemas.CompleteRequest,
  'logging/setLevel': specTypeSchemas.SetLevelRequest,
  'notifications/cancelled': specTypeSchemas.CancelledNotification,
  'notifications/progress': specTypeSchemas.ProgressNotification,
} as const

/** Reads messages of a client, treating `null` as absent like for servers, and validates parameters by method. */
export function readClientMessages(text: string): ({ message: JSONRPCMessage } | { fault: Fault })[] {
  return readMessages(text).map((reading) => {
    if ('fault' in reading) return reading
    const message = withoutNulls(reading.message)
    const fault = findFault(message)
    return fault === undefined ? { message } : { fault: { ...fault, text: text.slice(0, maxTextChars) } }
  })
}

/** Characters of a message in the operator's log. */
const maxTextChars = 200

/** Treats `null` as absent in all members of MCP, but not in a tool's arguments. Removes members unknown to JSON-RPC. */
function withoutNulls(message: JSONRPCMessage): JSONRPCMessage {
  const { jsonrpc, id, method, params, result, error } = message as unknown as Record<string, unknown>
  const { arguments: args, ...more } = isObject(params) ? params : {}
  const given =
    method === 'tools/call' && isObject(args) ? { ...keepExactArguments(more, args), arguments: {} } : params
  const read = dropNulls({ jsonrpc, id, method, params: given, result, error }) as Record<string, unknown>
  const members = Object.entries({
    ...read,
    ...(result === null && { result: {} }),
    ...(given !== params && { params: { ...(read.params as object), arguments: args } }),
  })
  return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as unknown as JSONRPCMessage
}

/** The same value if it contains none. */
function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return replaceChanged(value, value.map(dropNulls))
  if (!isObject(value)) return value
  const members = Object.entries(value)
  const kept = members
    .filter(([, member]) => member !== null)
    .map(([key, member]) => [key, dropNulls(member)] as const)
  const isSame = kept.length === members.length && kept.every(([key, member]) => member === value[key])
  return isSame ? value : Object.fromEntries(kept)
}

const replaceChanged = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.some((each, at) => each !== before[at]) ? after : before

function findFault(message: JSONRPCMessage): Omit<Fault, 'text'> | undefined {
  if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) return undefined
  const { id, method } = message as { readonly id?: string | number; readonly method?: string }
  const about = id === undefined ? {} : { requestId: id }
  // May be a request or a response.
  if (method === undefined)
    return {
      problem: 'it has no method, result or error',
      ...about,
      ...omitUndefined({ responseTo: id }),
    }
  const { JSONRPCNotification, JSONRPCRequest } = specTypeSchemas
  const own = Object.hasOwn(schemas, method) ? [schemas[method as keyof typeof schemas]] : []
  for (const schema of [id === undefined ? JSONRPCNotification : JSONRPCRequest, ...own]) {
    const checked = schema['~standard'].validate(message)
    const [issue] = ('issues' in checked && checked.issues) || []
    if (issue === undefined) continue
    const path = (issue.path ?? []).map((key) => (typeof key === 'object' ? key.key : key))
    const value = path.reduce<unknown>((at, key) => Object(at)[key], message)
    const kind = `/${path.join('/')} of ${method}`
    const expected = /expected [^,]+/.exec(issue.message)?.map((text) => `, ${text}`) ?? []
    const code = path[0] === 'params' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest
    return { problem: `${kind} is ${describeValue(value)}${expected.join('')}`, kind, code, ...about }
  }
  return undefined
}

/** Whether its sender expects an answer: not for a notification or a response. */
export const wantsAnswer = ({ responseTo, requestId, code }: Fault): boolean =>
  requestId !== undefined || (responseTo === undefined && code !== ProtocolErrorCode.InvalidParams)

/** The answer to an unreadable message. */
export function createFaultAnswer(fault: Fault): JSONRPCErrorResponse {
  const { problem, requestId, code = ProtocolErrorCode.InvalidRequest } = fault
  const answer = { jsonrpc: '2.0', id: requestId ?? null, error: { code, message: describeFault(problem) } }
  return answer as JSONRPCErrorResponse // JSON-RPC uses null for an unknown id.
}

/** An error in place of a client's unreadable answer, so that its request stops waiting. */
export function createFailedAnswer({ problem, responseTo }: Fault): JSONRPCErrorResponse | undefined {
  if (responseTo === undefined) return undefined
  const error = { code: ProtocolErrorCode.InternalError, message: describeFault(problem) }
  return { jsonrpc: '2.0', id: responseTo, error }
}

const describeFault = (problem: string): string => `The message cannot be read: ${problem}.`
