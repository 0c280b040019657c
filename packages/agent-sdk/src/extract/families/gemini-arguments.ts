import { type Json, record, string } from '../json.js'

const steps = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g

/**
 * Puts an argument of a call that Gemini streams to where its `jsonPath` says, such as `$.recipe.ingredients[0].name`: a
 * text to the end of what is there, anything else in place of it. What leads nowhere is passed over.
 */
export function placeArgument(args: Record<string, unknown>, part: Json): void {
  const keys = [...(string(part.jsonPath) ?? '').matchAll(steps)].map(
    ([, name, index, quoted, other]) => name ?? quoted ?? other ?? Number(index),
  )
  const last = keys.pop()
  let at: object | undefined = args
  for (const [place, key] of keys.entries()) {
    const next = keys[place + 1] ?? last
    at = at && inner(at, key, typeof next === 'number' ? [] : {})
  }
  if (at === undefined || last === undefined) return
  const value = 'stringValue' in part ? joined(get(at, last), part.stringValue) : plain(part)
  if (value !== undefined) put(at, last, value)
}

const plain = ({ numberValue, boolValue, ...rest }: Json): unknown =>
  numberValue ?? boolValue ?? ('nullValue' in rest ? null : undefined)

const joined = (known: unknown, more: unknown): unknown =>
  typeof known === 'string' && typeof more === 'string' ? known + more : more

type Key = string | number

/** What is there, or `empty`, which is there then. */
function inner(at: object, key: Key, empty: object): object | undefined {
  const known = get(at, key)
  if (record(known) !== undefined || Array.isArray(known)) return known as object
  return known === undefined && put(at, key, empty) ? empty : undefined
}

const get = (at: object, key: Key): unknown => (Object.hasOwn(at, key) ? (at as Json)[key] : undefined)

/** `false`: there is no such place. Lists have no gaps. */
function put(at: object, key: Key, value: unknown): boolean {
  const fits = Array.isArray(at) ? typeof key === 'number' && key <= at.length : typeof key === 'string'
  if (fits) Object.defineProperty(at, key, { value, writable: true, enumerable: true, configurable: true })
  return fits
}
