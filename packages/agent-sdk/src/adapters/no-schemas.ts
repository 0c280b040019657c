import { schemaErrors } from '../agent/errors.js'
import type { Checked, JsonSchema } from '../agent/schemas.js'

/** Not available in web pages: the validator is large and compiles code. */
export const compileJsonSchema = (
  _schema: JsonSchema,
): Promise<(value: unknown, what: string) => Checked> => {
  throw schemaErrors.uncheckedInPage()
}

export const describeZod = (_schema: object): Promise<JsonSchema> =>
  Promise.reject(schemaErrors.oldZodInPage())
