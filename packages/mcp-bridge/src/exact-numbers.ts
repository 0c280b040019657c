import { randomUUID } from 'node:crypto'
import { isObject } from '@meup/folds'
import { getNumberText, omitUndefined, parseExact, stringifyExact } from '@meup/protocol'

// MCP SDKs parse numbers and encode them with `JSON.stringify`, which loses digits of large ones. The functions below preserve
// them.

/** Key in `_meta` of a call for its arguments as JSON, used if the SDK's copy has lost digits. */
const argumentsKey = 'meup/arguments'

/**
 * Adds the arguments of a call as JSON to `_meta` of its params, if the SDK would lose digits of them. `readExactArguments`
 * reads them.
 */
export function keepExactArguments(params: Readonly<Record<string, unknown>>, args: object): object {
  const { [argumentsKey]: _, ...meta } = isObject(params._meta) ? params._meta : {}
  const json = stringifyExact(args)
  const isExact = json === JSON.stringify(args)
  return isExact && _ === undefined
    ? params
    : { ...params, _meta: { ...meta, ...(!isExact && { [argumentsKey]: json }) } }
}

/**
 * Returns the arguments of a call with exact numbers: those in `_meta` that `keepExactArguments` has added, otherwise `args`.
 */
export function readExactArguments<Args extends object>(
  args: Args,
  meta: Readonly<Record<string, unknown>> = {},
): Args {
  const json = meta[argumentsKey]
  return typeof json === 'string' ? (parseExact(json) as Args) : args
}

/** Marks a string that contains the digits of a number. Random, so that no sender can forge it. */
const mark = `${randomUUID()}:`
/** Matches a marked string, also within JSON in a string. */
const marked = new RegExp(`(\\\\*")${mark}([-+.\\deE]+)\\1`, 'g')

/**
 * Returns the id of a request for its response. An integer beyond 2^53, such as a random 64-bit id, is converted to a marked
 * string for `restoreNumbers`.
 */
export function markId(holder: Readonly<Record<string, unknown>>, key: string): unknown {
  const id = holder[key]
  if (typeof id !== 'number' || !Number.isInteger(id) || Number.isSafeInteger(id)) return id
  const text = getNumberText(holder, key) ?? ''
  return /^-?\d+$/.test(text) ? `${mark}${text}` : id
}

interface ToolResult {
  readonly structuredContent?: unknown
  readonly _meta?: unknown
}

/** Converts numbers of a tool result that would lose digits to marked strings for `restoreNumbers`. */
export function markNumbers<Result extends ToolResult>(result: Result): Result {
  const { structuredContent, _meta } = result
  const [data, meta] = [markMembers(structuredContent), markMembers(_meta)]
  if (data === structuredContent && meta === _meta) return result
  return {
    ...result,
    ...omitUndefined({ structuredContent: data, _meta: meta }),
  }
}

/** Marks numbers in a value. Returns the same value if none has to be marked. */
function markMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const copied = members.map(([key, each]) => {
    const text = typeof each === 'number' ? getNumberText(value, key) : undefined
    return text !== undefined && Object.is(Number(text), each) ? `${mark}${text}` : markMembers(each)
  })
  if (copied.every((each, at) => each === members[at]?.[1])) return value
  return Array.isArray(value) ? copied : Object.fromEntries(members.map(([key], at) => [key, copied[at]]))
}

/** Converts marked strings in JSON back to numbers. */
export const restoreNumbers = (json: string): string =>
  json.includes(mark) ? json.replaceAll(marked, '$2') : json

/** Restores numbers in the body of a response, line by line: JSON contains no line breaks, and events end with one. */
export function restoreResponse(response: Response): Response {
  if (response.body === null) return response
  let rest: Buffer = Buffer.alloc(0)
  const restored = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const bytes = Buffer.concat([rest, chunk])
      const end = bytes.lastIndexOf(0x0a) + 1
      if (end > 0) controller.enqueue(restoreBytes(bytes.subarray(0, end)))
      rest = bytes.subarray(end)
    },
    flush(controller) {
      if (rest.length > 0) controller.enqueue(restoreBytes(rest))
    },
  })
  const { status, headers } = response
  return new Response(response.body.pipeThrough(restored), { status, headers })
}

const restoreBytes = (bytes: Buffer): Buffer =>
  bytes.includes(mark) ? Buffer.from(restoreNumbers(bytes.toString())) : bytes
