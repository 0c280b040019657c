import { isNamed, type JsonObject, type Member, memberNamed, readObject } from './json.js'
import { Kind } from './kinds.js'
import type { Problem } from './validate.js'

/** A submission with its aliases resolved, and the bytes of its payload as they were sent. */
export interface Normalised {
  readonly value: Record<string, unknown>
  readonly payload: Uint8Array
}

/** Members of payloads by kind, as others spell them. A pause without an end that was meant to have one would be worse. */
const payloadAliases: ReadonlyMap<unknown, { readonly alias: string; readonly name: string }> = new Map([
  [Kind.chat, { alias: 'text', name: 'message' }],
  [Kind.participantPause, { alias: 'timeout_seconds', name: 'timeoutSeconds' }],
])

const emptyPayload = new TextEncoder().encode('{}')

/**
 * Resolves the input aliases [MEUP-1.3]: `/` in `kind`, `correlation_id`, those of payloads. An alias beside its canonical
 * field with another value is a problem [MEUP-1.4]. Payload bytes are kept; where a member is renamed, those between the
 * members are not.
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

/** Renames a member, or drops it where the one with the proper name says the same. */
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
