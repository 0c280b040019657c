import type { Checked, JsonSchema } from '../agent/schemas.js'

/** Not available in web pages: the validator is large and compiles code. */
export const compileJsonSchema = (
  _schema: JsonSchema,
): Promise<(value: unknown, what: string) => Checked> => {
  throw new TypeError('is a plain JSON Schema, which a page does not check; use TypeBox, or zod')
}

export const describeZod = (_schema: object): Promise<JsonSchema> =>
  Promise.reject(
    new Error('this version of zod gives no JSON Schema in a page; use zod 4.2 or newer, or TypeBox'),
  )
