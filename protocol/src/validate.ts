import { validators } from './generated/validators.js'
import { isNamed, type JsonObject, type Member, memberNamed, pointer, readObject } from './json.js'
import { isKnownKind, Kind } from './kinds.js'

/** A fault: JSON pointer to the field, and a message that says what was expected. */
export interface Problem {
  readonly path: string
  readonly message: string
}

interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: {
    missingProperty?: string
    additionalProperty?: string
    type?: string
    allowedValue?: unknown
  }
}
interface Validator {
  (value: unknown): boolean
  errors?: readonly SchemaError[] | null
}

const byName = validators as Record<string, Validator>

/** Checks an envelope after alias resolution; `undefined` = valid [MEUP-1.2]. */
export const checkSubmission = (value: unknown): Problem | undefined => run('submission', value)

/** Checks an envelope as delivered; `undefined` = valid [MEUP-1.1]. */
export const checkEnvelope = (value: unknown): Problem | undefined => run('envelope', value)

/** Checks a payload by its kind [MEUP-3.2]. Kinds without a schema accept any payload. */
export function checkPayload(kind: string, payload: unknown): Problem | undefined {
  if (!isKnownKind(kind)) return undefined
  const problem = run(kind, payload)
  return problem && { ...problem, path: `/payload${problem.path}` }
}

function run(name: string, value: unknown): Problem | undefined {
  const validate = byName[name]
  if (validate === undefined) throw new Error(`no validator is generated for ${name}`)
  if (validate(value)) return undefined
  const errors = validate.errors ?? []
  if (errors[0] === undefined) throw new Error(`the validator of ${name} refused without saying why`)
  return explain(errors.reduce(closer), errors)
}

/** Picks the more helpful of two errors: that of the alternative which matched further. */
function closer(best: SchemaError, error: SchemaError): SchemaError {
  const further = error.instancePath.length - best.instancePath.length || fitness(error) - fitness(best)
  return further > 0 ? error : best
}

const fitness = ({ keyword }: SchemaError): number =>
  keyword === 'anyOf' || keyword === 'oneOf' ? 0 : keyword === 'type' ? 1 : 2

function explain(error: SchemaError, all: readonly SchemaError[]): Problem {
  const { instancePath: path, keyword, message = 'is not valid', params } = error
  const { missingProperty: missing, additionalProperty: unknown } = params
  if (missing !== undefined) return { path: `${path}/${pointer(missing)}`, message: 'is required' }
  if (unknown !== undefined) return { path: `${path}/${pointer(unknown)}`, message: 'is not a known field' }
  const choices = all.filter((other) => other.instancePath === path && other.keyword === keyword)
  if (keyword === 'const') return { path, message: `must be ${choices.map(constant).join(' or ')}` }
  if (keyword === 'type') return { path, message: `must be ${[...new Set(choices.map(type))].join(' or ')}` }
  return { path, message }
}

const constant = ({ params }: SchemaError): string => JSON.stringify(params.allowedValue)
const type = ({ params }: SchemaError): string => `${params.type}`

/** A submission after alias resolution, with the payload bytes as sent. */
export interface Normalised {
  readonly value: Record<string, unknown>
  readonly payload: Uint8Array
}

/**
 * Aliases of payload members, by kind. Without its alias, a misspelt `timeoutSeconds` would be ignored, and the pause would
 * never end.
 */
const payloadAliases: ReadonlyMap<unknown, { readonly alias: string; readonly name: string }> = new Map([
  [Kind.chat, { alias: 'text', name: 'message' }],
  [Kind.participantPause, { alias: 'timeout_seconds', name: 'timeoutSeconds' }],
])

const emptyPayload = new TextEncoder().encode('{}')

/**
 * Resolves input aliases [MEUP-1.3]: `/` in `kind`, `correlation_id`, and members of payloads. A canonical field with a
 * different value than its alias is a problem [MEUP-1.4]. Keeps the payload bytes; renaming a member drops white space between
 * members.
 */
export function normalise(object: JsonObject, bytes: Uint8Array): Normalised | Problem {
  const { value, members } = object
  const member = memberNamed('payload', members, bytes)
  let payload = member === undefined ? emptyPayload : bytes.subarray(member.valueStart, member.valueEnd)

  if (typeof value.kind === 'string' && value.kind.includes('/')) value.kind = value.kind.replaceAll('/', '.')

  if ('correlation_id' in value) {
    if ('correlationId' in value && !same(value.correlationId, value.correlation_id)) {
      return { path: '/correlation_id', message: 'differs from correlationId' }
    }
    value.correlationId = value.correlation_id
    delete value.correlation_id
  }

  const body = value.payload
  const renamed = payloadAliases.get(value.kind)
  if (renamed !== undefined && isRecord(body) && renamed.alias in body) {
    const { alias, name } = renamed
    if (name in body && body[name] !== body[alias]) {
      return { path: `/payload/${alias}`, message: `differs from ${name}` }
    }
    payload = rename(payload, alias, name, name in body)
    value.payload = (readObject(payload) as JsonObject).value
  }
  return { value, payload }
}

/** Renames an alias in a payload. `drop`: removes the alias instead, because the canonical member has the same value. */
function rename(payload: Uint8Array, alias: string, name: string, drop: boolean): Uint8Array {
  const { members } = readObject(payload) as JsonObject
  const isAlias = (member: Member): boolean => isNamed(member, alias, payload)
  const kept = members.filter((member) => !(drop && isAlias(member)))
  const decoder = new TextDecoder()
  const part = (from: number, to: number): string => decoder.decode(payload.subarray(from, to))
  const write = (member: Member): string => {
    const key = isAlias(member) ? JSON.stringify(name) : part(member.keyStart, member.keyEnd)
    return `${key}:${part(member.valueStart, member.valueEnd)}`
  }
  return new TextEncoder().encode(`{${kept.map(write).join(',')}}`)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
