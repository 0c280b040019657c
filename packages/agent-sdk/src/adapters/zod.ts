type JsonSchema = Readonly<Record<string, unknown>>

/** The JSON Schema of a schema of zod that cannot say it itself: of zod 3, or zod 4.0 and 4.1. Rejects where no package for that is installed. */
export async function describeZod(schema: object): Promise<JsonSchema> {
  const failures: unknown[] = []
  for (const describe of '_zod' in schema ? [byAi] : [byConverter, byAi]) {
    try {
      return await describe(schema)
    } catch (error) {
      failures.push(error)
    }
  }
  const advice = 'use zod 4.2 or newer, or install zod-to-json-schema, for zod 3, beside @meup/agent-sdk'
  throw new Error(`this version of zod gives no JSON Schema; ${advice}`, { cause: failures[0] })
}

async function byConverter(schema: object): Promise<JsonSchema> {
  const { zodToJsonSchema } = await import('zod-to-json-schema')
  return { ...zodToJsonSchema(schema as Parameters<typeof zodToJsonSchema>[0]) }
}

async function byAi(schema: object): Promise<JsonSchema> {
  const { asSchema } = await import('ai')
  return { ...(await asSchema(schema as Parameters<typeof asSchema>[0]).jsonSchema) }
}
