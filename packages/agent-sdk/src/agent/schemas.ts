import { isObject } from '@meup/folds'
import { type Static, type TSchema, Kind as typeBoxKind } from '@sinclair/typebox'
import { compileJsonSchema, describeZod } from '#schemas'
import { schemaErrors } from './errors.js'
import { findSchemaFault, hasKeyword } from './schema-keywords.js'

/** The members of Standard Schema that are used here. zod, valibot and arktype implement it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor?: string
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly output: Output } | undefined
    /** Present if the library can generate JSON Schema. */
    readonly jsonSchema?: { input(options: { target: string }): Record<string, unknown> }
  }
}
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[]
    }

/** A JSON Schema, 2020-12 or draft-07, as plain data. Not available in web pages: its validator is large and compiles code. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A TypeBox schema, a zod or other Standard Schema that can generate JSON Schema, or a JSON Schema. */
export type InputSchema = TSchema | StandardSchema | JsonSchema

/** The type of the values that a schema describes. */
export type OutputOf<Schema> = Schema extends TSchema
  ? Static<Schema>
  : Schema extends StandardSchema<infer Output>
    ? Output
    : Readonly<Record<string, unknown>>

/** The parsed value, or a description of the problem. */
export type Checked = { readonly value: unknown } | { readonly problem: string }

/** A schema of any supported library, behind one interface. */
export interface ReadSchema {
  /** Rejects with a `TypeError` if the library cannot generate a JSON Schema, or the validator refuses it. */
  readonly jsonSchema: Promise<JsonSchema>
  /** Validates a value. `what`: how messages name the value. */
  check(value: unknown, what: string): Promise<Checked>
}

/** Adapts a JSON Schema, such as to the rules of MCP for tools. Throws `TypeError` if that is impossible. */
type Adapt = (schema: JsonSchema) => JsonSchema

/**
 * Reads a schema. Throws `TypeError` for faults that can be found synchronously. Its message lacks the subject, such as `has no
 * JSON Schema`, which the caller adds.
 */
export function readSchema(schema: unknown, adapt: Adapt = (same) => same): ReadSchema {
  const reader = isStandard(schema)
    ? readStandard(schema, adapt)
    : isTypeBox(schema)
      ? readTypeBox(schema, adapt)
      : readPlain(schema, adapt)
  reader.jsonSchema.catch(() => {}) // Callers that await the promise get the error.
  return reader
}

const target = 'draft-2020-12'

const isTypeBox = (schema: unknown): schema is TSchema => isObject(schema) && typeBoxKind in schema

/** Functions are accepted, because schemas of arktype are functions. */
const isStandard = (schema: unknown): schema is StandardSchema =>
  (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema

const readTypeBox = (schema: TSchema, adapt: Adapt): ReadSchema => ({
  jsonSchema: Promise.resolve(adapt(toData(schema))),
  check: async (value, what) => {
    const { Value } = await import('@sinclair/typebox/value')
    const [error] = [...Value.Errors(schema, value)]
    return error === undefined ? { value } : { problem: `${error.path || what}: ${error.message}` }
  },
})

const readStandard = (schema: StandardSchema, adapt: Adapt): ReadSchema => ({
  jsonSchema: describeStandard(schema, adapt),
  check: async (value, what) => {
    const result = await schema['~standard'].validate(value)
    if (result.issues === undefined) return { value: result.value }
    const text = result.issues.map(
      ({ message, path }) => `${path?.length ? path.map(formatPathKey).join('/') : what}: ${message}`,
    )
    return { problem: text.join('; ') }
  },
})

const formatPathKey = (part: unknown): string =>
  String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part)

function describeStandard(schema: StandardSchema, adapt: Adapt): Promise<JsonSchema> {
  const { jsonSchema, vendor = 'this library' } = schema['~standard']
  if (jsonSchema !== undefined)
    return Promise.resolve(adapt(toData(describing(() => jsonSchema.input({ target })))))
  if (vendor === 'zod') return describeZod(schema).then(adapt, rethrowAs(schemaErrors.notJson))
  throw schemaErrors.undescribed(vendor)
}

function describing<Value>(describe: () => Value): Value {
  try {
    return describe()
  } catch (error) {
    throw schemaErrors.notJson(error)
  }
}

const rethrowAs =
  (explain: (cause: unknown) => TypeError) =>
  (error: unknown): never => {
    throw explain(error)
  }

function readPlain(schema: unknown, adapt: Adapt): ReadSchema {
  if (!isObject(schema) || !hasKeyword(schema)) throw schemaErrors.notASchema()
  const plain = toData(schema)
  const fault = findSchemaFault(plain)
  if (fault !== undefined) throw schemaErrors.notAJsonSchema(fault)
  const adapted = adapt(plain)
  const validator = compileJsonSchema(adapted).catch(rethrowAs(schemaErrors.notAJsonSchema))
  return {
    jsonSchema: validator.then(() => adapted),
    check: async (value, what) => (await validator)(value, what),
  }
}

/** Copies a schema as plain data. Throws `TypeError` if it is cyclic, too deep, or not an object. */
function toData(schema: unknown): JsonSchema {
  const data: unknown = describing(() => JSON.parse(JSON.stringify(schema)))
  if (isObject(data)) return data
  throw schemaErrors.notData()
}
