import { isObject, markReplaced } from '@meup/folds'
import { copyNumberTexts, parseExact } from '@meup/protocol'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { markId } from '../exact-numbers.js'

/** Maximum nesting depth. Spaces accept far less, and more could overflow the stack of recursive functions. */
const maxNesting = 500
/** In descriptions of faults, maximum characters of a value and of a message. */
const [maxValueChars, maxTextChars] = [60, 200]

/** A message that cannot be read. */
export interface Fault {
  /** Description of the problem, such as "/params is 5". */
  readonly problem: string
  /** Key by which similar faults are counted together; default: `problem`. */
  readonly kind?: string
  /** The beginning of the message. */
  readonly text: string
  /** Set if the message responds to a request of this client: the id of the request. */
  readonly responseTo?: RequestId
  /** Set if the message is a request, whose sender expects a response: its id. */
  readonly requestId?: RequestId
  /** JSON-RPC code of the error response to the message; default: invalid request. */
  readonly code?: number
  /** Set if the fault was already reported when the beginning of the message arrived. */
  readonly isReported?: true
}

type Reading = { readonly message: JSONRPCMessage; readonly isChanged: boolean } | { readonly fault: Fault }

export interface HowToRead {
  /** The only request that a response without an id can belong to. */
  readonly asked?: RequestId | undefined
  /** Set if the text contained invalid UTF-8; a note is then added to results. */
  readonly isReplaced?: boolean
}

/**
 * Reads a message or batch of another program. Tolerates unambiguous faults: `null` in place of an absent member, a missing
 * `jsonrpc`, an error that is a string. All other content stays unchanged.
 */
export function readMessages(text: string, { asked, isReplaced = false }: HowToRead = {}): Reading[] {
  const quoted = text.slice(0, maxTextChars).toWellFormed()
  const parsed = parse(text)
  if ('problem' in parsed) return [{ fault: { ...parsed, text: quoted } }]
  const { value } = parsed
  const all: readonly unknown[] = Array.isArray(value) && value.length > 0 ? value : [value]
  return all.map((each) => {
    const read = readMessage(each, asked)
    if ('problem' in read) return { fault: { ...read, text: quoted } }
    const message = isReplaced && 'result' in read.message ? markReplaced(read.message) : read.message
    return { message, isChanged: message !== value }
  })
}

type Read<Part extends object> = Part | Omit<Fault, 'text'>

function parse(text: string): Read<{ readonly value: unknown }> {
  try {
    return { value: parseExact(text) }
  } catch (error) {
    const code = parseError
    if (text.includes('\0')) return { code, problem: 'it contains NUL bytes; the output has to be UTF-8' }
    if (!/^\s*[[{]/.test(text)) return { code, problem: 'it is not JSON' }
    return { code, problem: error instanceof SyntaxError ? 'it is broken JSON' : 'it is too much JSON' }
  }
}

function readMessage(
  value: unknown,
  asked: RequestId | undefined,
): Read<{ readonly message: JSONRPCMessage }> {
  if (!isObject(value)) return { problem: `it is not an object but ${nameType(value)}` }
  const read =
    value.method === undefined || value.method === null ? readResponse(value, asked) : readCall(value)
  if ('problem' in read) return read
  const { members, ...about } = read
  if (isDeeper(value, maxNesting)) return { problem: `it is nested more than ${maxNesting} deep`, ...about }
  return { message: members as unknown as JSONRPCMessage }
}

type Members = Read<Pick<Fault, 'responseTo' | 'requestId' | 'code'> & { readonly members: object }>

function readResponse(value: Record<string, unknown>, asked: RequestId | undefined): Members {
  const { jsonrpc, result, error } = value
  const id = value.id ?? asked
  const hasError = isGiven(error) && !(isGiven(result) && isEmpty(error))
  const hasNothing = result === undefined && !hasError
  if (jsonrpc !== '2.0' && (hasNothing || isLogLine(value)))
    return { problem: 'it has no jsonrpc, which an answer requires' }
  if (!isId(id)) return describeMember('/id', id)
  const members = replace(value, {
    jsonrpc: '2.0',
    id,
    method: undefined,
    ...(!hasError && { error: undefined }),
    ...(hasError && result === null && { result: undefined }),
    ...(hasError && typeof error === 'string' && { error: { code: internalError, message: error } }),
  })
  return { members, responseTo: id }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Whether an error is empty. If there is also a result, the result counts. */
const isEmpty = (error: unknown): boolean =>
  error === false || error === '' || (isObject(error) && Object.keys(error).length === 0)

/**
 * Whether an object without `jsonrpc` is a line of a logger, which may also have an id, a result or an error. In MCP, results
 * and errors are objects, and there are no additional members.
 */
const isLogLine = ({ id: _, error, result, ...rest }: Record<string, unknown>): boolean =>
  Object.entries(rest).some(([key, member]) => key !== 'jsonrpc' && member !== null) ||
  (!isObject(result) && result !== undefined && result !== null) ||
  (!isObject(error) && typeof error !== 'string' && error !== undefined && error !== null)

/** Error codes that JSON-RPC defines. */
const [parseError, invalidParams, internalError] = [-32700, -32602, -32603]

/** Reads a request or a notification. */
function readCall(value: Record<string, unknown>): Members {
  const { method, params } = value
  const id = markId(value, 'id')
  const about = isId(id) ? { requestId: id } : {}
  if (typeof method !== 'string') return { ...describeMember('/method', method), ...about }
  if (id !== undefined && id !== null && !isId(id)) return describeMember('/id', id)
  if (params !== undefined && params !== null && !isObject(params))
    return { ...describeMember('/params', params), ...about, code: invalidParams }
  const members = replace(value, {
    jsonrpc: '2.0',
    ...(id !== undefined && { id: id ?? undefined }),
    ...(params !== undefined && { params: isObject(params) ? markIds(params) : undefined }),
  })
  return { members, ...about }
}

/** Marks ids in params that refer to requests of the sender, see `markId`. */
function markIds(params: Record<string, unknown>): object {
  const { _meta } = params
  return replace(params, {
    ...('requestId' in params && { requestId: markId(params, 'requestId') }),
    ...(isObject(_meta) &&
      'progressToken' in _meta && {
        _meta: replace(_meta, { progressToken: markId(_meta, 'progressToken') }),
      }),
  })
}

const isId = (id: unknown): id is RequestId => typeof id === 'string' || typeof id === 'number'

/** Replaces members; `undefined` removes a member. Returns the same object if nothing changes. */
function replace(value: Record<string, unknown>, members: Record<string, unknown>): object {
  const changed = Object.entries(members).filter(([key, to]) =>
    to === undefined ? key in value : value[key] !== to,
  )
  if (changed.length === 0) return value
  const all = Object.entries({ ...value, ...Object.fromEntries(changed) })
  return copyNumberTexts(
    Object.fromEntries(all.filter(([key, each]) => each !== undefined || !(key in members))),
    value,
  )
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((each) => isDeeper(each, levels - 1))
  for (const key in value) if (isDeeper(value[key as keyof typeof value], levels - 1)) return true
  return false
}

const describeMember = (kind: string, value: unknown) => ({
  kind,
  problem: `${kind} is ${describeValue(value)}`,
})

/** Describes a value for the description of a fault. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'object' && value !== null
    ? nameType(value)
    : JSON.stringify(value).slice(0, maxValueChars)
}

function nameType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
