import { getErrorMessage } from '@meup/protocol'

/** Errors about the tools and answers of an agent. A message says what happened, with the value, and then what to do. */
export const agentErrors = {
  unnamedTool: () => new TypeError('a tool has no name. Give it one.'),
  offeredTool: (name: string) => new TypeError(`the tool ${name} is offered already. Choose another name.`),
  refusedTool: (name: string, { message, cause }: TypeError) =>
    new TypeError(`the tool ${name} cannot be offered: its input ${message}`, { cause }),
  refusedOutput: ({ message, cause }: TypeError) =>
    new TypeError(`an agent cannot have this output: it ${message}`, { cause }),
  emptyAnswer: () => new Error('the agent gave no answer. Ask again.'),
  longAnswer: (maximum: number) =>
    new Error(`the answer is longer than ${maximum} characters. Ask for less.`),
}

/** Faults of schemas. Their texts lack the subject, which `refusedTool` and `refusedOutput` add. */
export const schemaErrors = {
  notAnObject: (type: unknown) => new TypeError(`is of the type ${JSON.stringify(type)}. Make it an object.`),
  notASchema: () => {
    const advice = 'Use Type.Object({ … }) of @sinclair/typebox, z.object({ … }) of zod, or a JSON Schema.'
    return new TypeError(`is not a schema. ${advice}`)
  },
  notAJsonSchema: (cause: unknown) =>
    new TypeError(`is not a JSON Schema: ${getErrorMessage(cause)}`, cause instanceof Error ? { cause } : {}),
  notJson: (cause: unknown) => new TypeError(`has no JSON Schema: ${getErrorMessage(cause)}`, { cause }),
  undescribed: (vendor: string) => {
    const advice = 'Update it, or wrap the schema, as toStandardJsonSchema() of @valibot/to-json-schema does.'
    return new TypeError(`is a schema of ${vendor}, which has no JSON Schema. ${advice}`)
  },
  notData: () => new TypeError('has a JSON Schema that is not an object'),
  oldZod: () => {
    const advice = 'Use zod 4.2 or newer, or install zod-to-json-schema, for zod 3, next to @meup/agent-sdk.'
    return new Error(`this version of zod gives no JSON Schema. ${advice}`)
  },
  /** Errors in a web page, where plain JSON Schemas cannot be validated, and old zod schemas cannot be converted. */
  uncheckedInPage: () =>
    new TypeError('is a plain JSON Schema, which a page does not check. Use TypeBox, or zod.'),
  oldZodInPage: () =>
    new Error('this version of zod gives no JSON Schema in a page. Use zod 4.2 or newer, or TypeBox.'),
}
