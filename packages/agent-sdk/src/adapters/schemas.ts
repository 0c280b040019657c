import { schemaErrors } from '../agent/errors.js'
import type { Checked, JsonSchema } from '../agent/schemas.js'

/** The option `allErrors` makes Ajv generate flat code; its nested code for a large schema would overflow the stack. */
const settings = { allErrors: true, strict: false, validateFormats: false, logger: false } as const

/** Compiles a validator; `what`: how error messages name the value. Rejects if the schema is invalid. */
export async function compileJsonSchema(
  schema: JsonSchema,
): Promise<(value: unknown, what: string) => Checked> {
  const isEarlier = /draft-0[4-7]/.test(String(schema.$schema))
  const Ajv = isEarlier ? (await import('ajv')).Ajv : (await import('ajv/dist/2020.js')).Ajv2020
  const { $schema: _, ...own } = schema
  const validate = new Ajv(settings).compile(own)
  return (value, what) => {
    if (validate(value)) return { value }
    const [{ instancePath = '', message = 'does not fit', params = {} } = {}] = validate.errors ?? []
    const { additionalProperty: extra, allowedValues: allowed } = params
    const path = extra === undefined ? instancePath : `${instancePath}/${extra}`
    return { problem: `${path || what}: ${message}${allowed ? ` (${JSON.stringify(allowed)})` : ''}` }
  }
}

/**
 * Converts a zod schema of a version without `toJSONSchema`: zod 3, 4.0 and 4.1. Rejects if the package for that is not
 * installed.
 */
export async function describeZod(schema: object): Promise<JsonSchema> {
  const converter = '_zod' in schema ? undefined : await import('zod-to-json-schema').catch(() => undefined)
  if (converter !== undefined) return { ...converter.zodToJsonSchema(schema as Zod3) }
  const ai = await import('ai').catch(() => undefined)
  if (ai !== undefined) return { ...(await ai.asSchema(schema as Zod).jsonSchema) }
  throw schemaErrors.oldZod()
}

type Zod3 = Parameters<typeof import('zod-to-json-schema').zodToJsonSchema>[0]
type Zod = Parameters<typeof import('ai').asSchema>[0]
