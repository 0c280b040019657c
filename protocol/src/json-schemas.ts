import type { TSchema } from '@sinclair/typebox'
import { Envelope, Submission } from './envelope.js'
import { kindRules } from './kind-rules.js'

export type JsonSchema = Readonly<Record<string, unknown>>

/** TypeBox keeps symbols in its schemas, which other libraries trip over. */
export const plainSchema = (schema: TSchema): JsonSchema => JSON.parse(JSON.stringify(schema))

/** JSON Schema of an envelope, of a submission, and of every kind's payload, by name; `$id` is the name. */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  const payloads = Object.entries(kindRules).map(([kind, { meaning, payload }]) => [
    kind,
    { $id: kind, title: kind, description: meaning, ...plainSchema(payload) },
  ])
  return {
    submission: plainSchema(Submission),
    envelope: plainSchema(Envelope),
    ...Object.fromEntries(payloads),
  }
}

/** One of them as a document of its own: what is in `dist/schema`, and what a gateway serves [MEUP-11.8]. */
export const schemaDocument = (name: string, schema: JsonSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...schema,
  $id: `${name}.json`,
})
