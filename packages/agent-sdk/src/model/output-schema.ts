import { agentErrors } from '../agent/errors.js'
import { type InputSchema, readSchema } from '../agent/schemas.js'
import { findJsonEnd } from '../extract/json-text.js'
import { parseExactJson } from './exact-arguments.js'

/** The required form of answers, for agents with the option `output`. */
export interface OutputSchema {
  /** The part of the system prompt that describes the form. */
  readonly instructions: string
  /** Reads the data from the text of an answer, or describes why it does not fit. */
  read(text: string): Promise<{ readonly data: unknown } | { readonly problem: string }>
}

/** Creates an `OutputSchema`. Rejects with a `TypeError` for an invalid schema. */
export async function createOutputSchema(schema: InputSchema): Promise<OutputSchema> {
  const { jsonSchema, check } = await describeOutput(schema)
  return {
    instructions: `Your final answer is one JSON value, and nothing else, that fits this JSON Schema:\n${JSON.stringify(jsonSchema)}`,
    read: async (text) => {
      const json = findJson(text)
      if (json === undefined) return { problem: 'it is not one JSON value' }
      const value = parseExactJson(json)
      const checked = await check(value, 'the answer')
      if ('problem' in checked) return checked
      const isSame = JSON.stringify(checked.value) === JSON.stringify(value)
      return { data: isSame ? value : checked.value }
    },
  }
}

async function describeOutput(schema: InputSchema) {
  try {
    const { jsonSchema, check } = readSchema(schema)
    return { jsonSchema: await jsonSchema, check }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw agentErrors.refusedOutput(error)
  }
}

const fence = /^```[^\n]*\n([\s\S]*?)\n?```\s*$/m

/** Maximum positions at which JSON is looked for; a text with more of them is not a single value. */
const maxBeginnings = 20

/** Finds the JSON in a text: the whole text, the content of a code fence, or the only object or list in it. */
function findJson(text: string): string | undefined {
  const whole = [text, fence.exec(text)?.[1]].flatMap((each) => each?.trim() ?? [])
  const found = whole.find((each) => parseExactJson(each) !== undefined)
  if (found !== undefined) return found
  const values: string[] = []
  const beginning = /[[{]/g
  for (let count = 0; beginning.test(text); count++) {
    if (count === maxBeginnings) return undefined
    const at = beginning.lastIndex - 1
    const json = text.slice(at, Math.max(at, findJsonEnd(text, at)))
    if (parseExactJson(json) === undefined) continue
    values.push(json)
    beginning.lastIndex = at + json.length
  }
  return values.length === 1 ? values[0] : undefined
}
