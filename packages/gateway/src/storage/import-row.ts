import { checkEnvelope, checkPayload, type Envelope } from '@meup/protocol'
import { headOf, toDraft } from '../core/admission/encode.js'
import { LogError } from '../log/error.js'
import type { Draft } from '../ports/envelope-log.js'

/** An envelope that was logged elsewhere, as a line of an export has it. */
export interface ImportedRow {
  readonly seq: number
  /** The exact JSON of the envelope, without `seq`. */
  readonly body: string
  /** 16 bytes, hexadecimal; absent = a fresh one. */
  readonly salt?: string
}

/** The envelope that this JSON is; a text = what is wrong with it. */
export function readLogged(json: string): Envelope | string {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return `this is no JSON: ${String(error)}`
  }
  const envelope = value as Envelope
  const problem = checkEnvelope(value) ?? checkPayload(envelope.kind, envelope.payload)
  return problem === undefined ? envelope : `this is no envelope: ${problem.path || '/'} ${problem.message}`
}

/** The same of JSON that delivery puts a seq in front of. */
export function readBody(body: string): Envelope | string {
  const envelope = readLogged(body)
  if (typeof envelope === 'string') return envelope
  return envelope.seq === undefined && body.startsWith('{') ? envelope : 'no log has this as a body'
}

/**
 * The row as the log takes it. Of what the guard has changed, the submission is not known any more: a retry of that is not
 * recognised, and is refused as `duplicate_id`. Throws a `LogError`.
 */
export function importedDraft({ seq, body, salt }: ImportedRow): Draft & { readonly salt?: Uint8Array } {
  const envelope = readBody(body)
  if (typeof envelope === 'string') throw damaged(seq, envelope)
  if (salt !== undefined && !/^[\da-f]{32}$/.test(salt)) throw damaged(seq, 'its salt is no 16 bytes')
  const bytes = Buffer.from(body)
  const head = headOf(envelope)
  const content = body.startsWith(head) ? bytes.subarray(Buffer.byteLength(head)) : bytes
  const draft = toDraft(envelope, seq, { body: bytes, content })
  return salt === undefined ? draft : { ...draft, salt: Buffer.from(salt, 'hex') }
}

const damaged = (seq: number, problem: string): LogError =>
  new LogError('corrupt', `The envelope ${seq} cannot be imported: ${problem}. Export the log again.`)
