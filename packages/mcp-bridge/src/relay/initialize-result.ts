import { dropNulls, isObject } from '@meup/folds'
import { specTypeSchemas } from '@modelcontextprotocol/client'
import { describeValue } from './read-message.js'

export type InitializeReading =
  | { readonly result: Record<string, unknown>; readonly ignored: readonly string[] }
  | { readonly problem: string }

/** Maximum number of invalid optional members that are removed. */
const maxIgnored = 50

/**
 * Reads the result of `initialize`. Invalid optional members and `null` count as absent; the server's name is optional too.
 * `problem`: the end of a sentence that begins with "it".
 */
export function readInitializeResult(answer: unknown): InitializeReading {
  if (!isObject(answer)) return { problem: `answered initialize with ${describeValue(answer)}` }
  const result = complete(dropNulls(answer) as Record<string, unknown>)
  const ignored: string[] = []
  for (let count = 0; count <= maxIgnored; count++) {
    const { issues } = specTypeSchemas.InitializeResult['~standard'].validate(result)
    if (issues === undefined) return { result, ignored }
    const path = (issues[0]?.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
    const pointer = `/${path.join('/')}`
    const value = remove(result, path)
    const before = ignored.find((each) => each.startsWith(`${pointer} is `))
    if (value === undefined)
      return { problem: `answered initialize, but ${before ?? `${pointer} is missing`}` }
    ignored.push(`${pointer} is ${describeValue(value)}`)
  }
  return { problem: `answered initialize, but ${ignored[0]}` }
}

function complete(result: Record<string, unknown>): Record<string, unknown> {
  const { serverInfo, capabilities } = result
  const info = isObject(serverInfo) ? serverInfo : {}
  const entries = Object.entries(isObject(capabilities) ? capabilities : {})
  const offered = entries.filter(([, value]) => value !== false)
  return {
    ...result,
    capabilities: Object.fromEntries(offered.map(([name, value]) => [name, value === true ? {} : value])),
    serverInfo: { ...info, name: toText(info.name), version: toText(info.version) },
  }
}

const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown'

/** Removes the member at a path, and returns its value. */
function remove(value: object, path: readonly string[]): unknown {
  const [key, ...more] = path
  if (key === undefined) return undefined
  const member = (value as Record<string, unknown>)[key]
  if (more.length > 0) return typeof member === 'object' && member !== null ? remove(member, more) : undefined
  if (Array.isArray(value)) value.splice(Number(key), 1)
  else Reflect.deleteProperty(value, key)
  return member
}
