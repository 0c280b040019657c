import { type Static, type TSchema, TypeGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The part of the Standard Schema interface that is used here; zod, valibot and arktype schemas have it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly output: Output } | undefined
    /** Where the library can describe itself as JSON Schema. */
    readonly jsonSchema?: { input(options: { target: string }): Record<string, unknown> }
  }
}
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[]
    }

export type InputSchema = TSchema | StandardSchema
/** What a handler gets of the arguments that fit the schema. */
export type InputOf<Schema> = Schema extends TSchema
  ? Static<Schema>
  : Schema extends StandardSchema<infer Output>
    ? Output
    : never

/** The arguments as the handler takes them, or what is wrong with them. */
export async function checkInput(
  schema: InputSchema,
  args: unknown,
): Promise<{ value: unknown } | { problem: string }> {
  if (isTypeBox(schema)) {
    const [error] = [...Value.Errors(schema, args)]
    return error === undefined
      ? { value: args }
      : { problem: `${error.path || 'the arguments'}: ${error.message}` }
  }
  const result = await schema['~standard'].validate(args)
  if (result.issues === undefined) return { value: result.value }
  const text = result.issues.map(({ message, path }) =>
    path?.length ? `${path.map(keyOf).join('/')}: ${message}` : message,
  )
  return { problem: text.join('; ') }
}

/** What `tools/list` tells of the arguments. */
export function jsonSchemaOf(schema: InputSchema): Record<string, unknown> {
  if (isTypeBox(schema)) return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
  return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? { type: 'object' }
}

const isTypeBox = (schema: InputSchema): schema is TSchema =>
  !('~standard' in schema) && TypeGuard.IsSchema(schema)

const keyOf = (part: unknown): string =>
  String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part)
