import { isObject } from '@meup/folds'
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
import { describe, type Fault, readMessages } from '../../relay/read-message.js'

/** Of a line, and of the body of a request. */
export const maxMessageBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** What clients may send, by method. Others have no parameters that would be known here, or are refused by the SDK. */
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

/** Reads messages of a client: as those of servers, `null` as an absent member, and with parameters that their method has. */
export function readClientMessages(text: string): ({ message: JSONRPCMessage } | { fault: Fault })[] {
  return readMessages(text).map((reading) => {
    if ('fault' in reading) return reading
    const message = withoutNulls(reading.message)
    const fault = findFault(message)
    return fault === undefined ? { message } : { fault: { ...fault, text: text.slice(0, maxTextChars) } }
  })
}

/** Characters of a message that the operator reads. */
const maxTextChars = 200

/**
 * `null` stands for an absent member wherever MCP has members, but not in what the caller of a tool gives it. Members that
 * JSON-RPC does not have are left out.
 */
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

/** The same value if there are none. */
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
  // It may be a request, or an answer.
  if (method === undefined)
    return {
      problem: 'it has no method, result or error',
      ...about,
      ...(id !== undefined && { responseTo: id }),
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
    return { problem: `${kind} is ${describe(value)}${expected.join('')}`, kind, code, ...about }
  }
  return undefined
}

/** Whether its sender waits for an answer: not for one to a notification, or to an answer. */
export const wantsAnswer = ({ responseTo, requestId, code }: Fault): boolean =>
  requestId !== undefined || (responseTo === undefined && code !== ProtocolErrorCode.InvalidParams)

/** What the sender of a message that cannot be read gets. */
export function createFaultAnswer(fault: Fault): JSONRPCErrorResponse {
  const { problem, requestId, code = ProtocolErrorCode.InvalidRequest } = fault
  const answer = { jsonrpc: '2.0', id: requestId ?? null, error: { code, message: describeFault(problem) } }
  return answer as JSONRPCErrorResponse // JSON-RPC has null where the id is not known.
}

/** The client's answer, where it cannot be read: what waits for it need wait no longer. */
export function createFailedAnswer({ problem, responseTo }: Fault): JSONRPCErrorResponse | undefined {
  if (responseTo === undefined) return undefined
  const error = { code: ProtocolErrorCode.InternalError, message: describeFault(problem) }
  return { jsonrpc: '2.0', id: responseTo, error }
}

const describeFault = (problem: string): string => `The message cannot be read: ${problem}.`
