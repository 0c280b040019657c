import { cut } from '@meup/folds'
import { copyNumberTexts } from '@meup/protocol'
import { TagReader, type TagTexts } from '../extract/tag-reader.js'
import { fitSchema, type Schemas } from './fit-schema.js'

type Schema = Readonly<Record<string, unknown>>

/** The schema of a tool's arguments, in the form for a model. */
export interface AskedArguments {
  readonly inputSchema: Schema & { readonly type: 'object'; readonly properties: Schemas }
  /** The name of the property that asks for a reason. */
  readonly rationaleKey: string
  /** The tool's own property names, by the names in the schema for the model. */
  readonly propertyNames: ReadonlyMap<string, string>
}

const description =
  'Why this call is needed now, in one sentence, for the people who follow along. It is not passed to the tool.'
/** Maximum characters of a reason, which is meant to be one sentence. */
const maxRationaleChars = 300

/** Fits the schema of a tool's arguments for providers, and adds an optional first property that asks for a reason. */
export function askArguments(inputSchema: Schema): AskedArguments {
  const { schema, names } = fitSchema(inputSchema)
  const rationaleKey = freeKey(schema.properties)
  const properties = { [rationaleKey]: { type: 'string', description }, ...schema.properties }
  return { inputSchema: { ...schema, type: 'object', properties }, rationaleKey, propertyNames: names }
}

/** Splits the model's input into the tool's arguments and the reason. */
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
  /** The reason that the model gave for this call. */
  readonly given: string | undefined
  /** The arguments for the tool; some have a `description` of the action. */
  readonly args: Schema
  /** The text of the step that made the calls. */
  readonly commentary: string
  /** The provider's summary of the reasoning. */
  readonly summary: string
}

/** Chooses the reason for a call from the available texts; `undefined` = none. The model is not asked again. */
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

/** Separates thoughts in tags, such as `<think>`, from a model's text. */
function splitTaggedThoughts(text: string): TagTexts {
  const reader = new TagReader({ prefilled: false })
  reader.push(text)
  return reader.end()
}
