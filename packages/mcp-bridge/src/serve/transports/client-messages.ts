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
import { serveText } from '../errors.js'

/** Maximum bytes of a line, and of a request body. */
export const maxMessageBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** Schemas of client messages, by method. Messages with other methods are not validated here. */
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

/**
 * Reads messages of a client with the same tolerance as those of servers. `null` counts as absent. Params are validated by
 * method.
 */
export function readClientMessages(text: string): ({ message: JSONRPCMessage } | { fault: Fault })[] {
  return readMessages(text).map((reading) => {
    if ('fault' in reading) return reading
    const message = withoutNulls(reading.message)
    const fault = findFault(message)
    return fault === undefined ? { message } : { fault: { ...fault, text: text.slice(0, maxTextChars) } }
  })
}

/** Maximum characters of an invalid message that are quoted in the log of the serving program. */
const maxTextChars = 200

/** Treats `null` as absent, except in the arguments of a tool. Removes members that JSON-RPC does not define. */
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

/** Removes `null` members. Returns the same value if there are none. */
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
  // Without a method, the message may be meant as a request or as a response, so its id counts as that of both.
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

/** Whether the sender of an invalid message expects a response; the senders of notifications and responses do not. */
export const wantsAnswer = ({ responseTo, requestId, code }: Fault): boolean =>
  requestId !== undefined || (responseTo === undefined && code !== ProtocolErrorCode.InvalidParams)

/** Creates the response to an invalid message. */
export function createFaultAnswer(fault: Fault): JSONRPCErrorResponse {
  const { problem, requestId, code = ProtocolErrorCode.InvalidRequest } = fault
  const answer = { jsonrpc: '2.0', id: requestId ?? null, error: { code, message: describeFault(problem) } }
  return answer as JSONRPCErrorResponse // JSON-RPC uses null for an unknown id.
}

/**
 * If the invalid message was a client's response, creates an error in place of it, so that the request does not wait in vain.
 */
export function createFailedAnswer({ problem, responseTo }: Fault): JSONRPCErrorResponse | undefined {
  if (responseTo === undefined) return undefined
  const error = { code: ProtocolErrorCode.InternalError, message: describeFault(problem) }
  return { jsonrpc: '2.0', id: responseTo, error }
}

const describeFault = (problem: string): string => serveText('unreadable_message', { problem })
