import { cut } from '@meup/folds'
import { copyNumberTexts } from '@meup/protocol'
import { TagReader, type TagTexts } from '../extract/tag-reader.js'
import { fitSchema, type Schemas } from './fit-schema.js'

type Schema = Readonly<Record<string, unknown>>

/** A tool's arguments as a model is asked for them. */
export interface AskedArguments {
  readonly inputSchema: Schema & { readonly type: 'object'; readonly properties: Schemas }
  /** The name of the argument that asks for a reason. */
  readonly rationaleKey: string
  /** The tool's own names of properties, by those that the model is given for them. */
  readonly propertyNames: ReadonlyMap<string, string>
}

const description =
  'Why this call is needed now, in one sentence, for the people who follow along. It is not passed to the tool.'
/** Characters; a reason is a sentence, not a page. */
const maxRationaleChars = 300

/** The schema of a tool's arguments as providers take it, with a first, optional one for the reason. */
export function askArguments(inputSchema: Schema): AskedArguments {
  const { schema, names } = fitSchema(inputSchema)
  const rationaleKey = freeKey(schema.properties)
  const properties = { [rationaleKey]: { type: 'string', description }, ...schema.properties }
  return { inputSchema: { ...schema, type: 'object', properties }, rationaleKey, propertyNames: names }
}

/** What the model gave, taken apart: the tool's own arguments, and the reason. */
export function splitRationale(
  input: Schema,
  key: string,
): { readonly args: Schema; readonly rationale: string | undefined } {
  const { [key]: rationale, ...args } = input
  return {
    args: copyNumberTexts(args, input),
    rationale: typeof rationale === 'string' ? rationale : undefined,
  }
}

interface Reasons {
  /** What the model gave as the reason of this call. */
  readonly given: string | undefined
  /** The tool's own arguments: some describe what is done. */
  readonly args: Schema
  /** What the model said along with its calls. */
  readonly commentary: string
  /** The reasoning summary of the provider. */
  readonly summary: string
}

/** Why the call is made: the best of what was said about it, if anything was. No model is asked for it. */
export function chooseRationale({ given, args, commentary, summary }: Reasons): string | undefined {
  const described = typeof args.description === 'string' ? args.description : ''
  const said = [given ?? '', described, commentary, summary].map((text) =>
    splitTaggedThoughts(text).text.trim(),
  )
  const best = said.find((text) => text !== '')
  return best === undefined ? undefined : cut(best, maxRationaleChars)
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function freeKey(properties: Schema): string {
  for (let number = 1; ; number++) {
    const key = number === 1 ? '_rationale' : `_rationale_${number}`
    if (!(key in properties)) return key
  }
}

/** Separates a model's text from its thoughts in tags such as `<think>`. */
function splitTaggedThoughts(text: string): TagTexts {
  const reader = new TagReader({ prefilled: false })
  reader.push(text)
  return reader.end()
}
