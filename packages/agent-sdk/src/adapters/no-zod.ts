type JsonSchema = Readonly<Record<string, unknown>>

/** Pages are kept small. */
export const describeZod = (_schema: object): Promise<JsonSchema> =>
  Promise.reject(
    new Error('this version of zod gives no JSON Schema in a page; use zod 4.2 or newer, or TypeBox'),
  )
