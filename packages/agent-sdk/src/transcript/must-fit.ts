import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { TranscriptError, type TranscriptErrorCode } from './errors.js'

/** Throws, and says where the value is not what the schema asks for. */
export function mustFit(schema: TSchema, value: unknown, what: string, code: TranscriptErrorCode): void {
  const error = Value.Errors(schema, value).First()
  if (error !== undefined) throw new TranscriptError(code, `${what}${error.path}: ${error.message}`)
}
