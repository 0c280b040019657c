import { isNamed, type JsonObject, type Member, memberNamed, readObject } from './json.js'
import { Kind } from './kinds.js'
import type { Problem } from './validate.js'

/** A submission with its aliases resolved, and the bytes of its payload as they were sent. */
export interface Normalised {
  readonly value: Record<string, unknown>
  readonly payload: Uint8Array
}

const emptyPayload = new TextEncoder().encode('{}')

/**
 * Resolves the input aliases [MEUP-1.3]: `/` in `kind`, `correlation_id`, chat `payload.text`. An alias beside its
 * canonical field with another value is a problem [MEUP-1.4]. Payload bytes are kept; where `text` is renamed, those
 * between the members are not.
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
  if (value.kind === Kind.chat && isRecord(body) && 'text' in body) {
    if ('message' in body && body.message !== body.text) {
      return { path: '/payload/text', message: 'differs from message' }
    }
    payload = renameText(payload, 'message' in body)
    value.payload = (readObject(payload) as JsonObject).value
  }
  return { value, payload }
}

/** Renames the member `text` to `message`, or drops it where `message` says the same. */
function renameText(payload: Uint8Array, drop: boolean): Uint8Array {
  const { members } = readObject(payload) as JsonObject
  const isText = (member: Member): boolean => isNamed(member, 'text', payload)
  const kept = members.filter((member) => !(drop && isText(member)))
  const decoder = new TextDecoder()
  const part = (from: number, to: number): string => decoder.decode(payload.subarray(from, to))
  const write = (member: Member): string => {
    const key = isText(member) ? '"message"' : part(member.keyStart, member.keyEnd)
    return `${key}:${part(member.valueStart, member.valueEnd)}`
  }
  return new TextEncoder().encode(`{${kept.map(write).join(',')}}`)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
