import { customAlphabet } from 'nanoid'
import type { SpaceTool } from '../agent/tool-choice.js'
import { pythonWords, readTextCalls, type TextCall } from '../extract/call-forms.js'
import { isFilled } from '../extract/json.js'
import { readArguments } from '../extract/json-text.js'
import { cutName } from '../extract/tag-tokens.js'
import type { WantedCall } from './dialogue.js'
import { parseExactJson } from './exact-arguments.js'
import { isRecord } from './rationale.js'

export type CallableTools = ReadonlyMap<string, Pick<SpaceTool, 'name' | 'inputSchema'>>

/** A call as received from the provider. */
interface GivenCall {
  readonly id: string
  readonly name: string
  /** The arguments as text. */
  readonly text: string
}

/** Creates an id of nine letters and digits, which Mistral requires and every other provider accepts. */
const createCallId = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 9)

/**
 * Normalizes a call: finds the offered tool, and replaces an id that is missing or in `ids`. Returns several calls if the text
 * contains the arguments of several.
 */
export function normaliseCall(
  { id, name, text }: GivenCall,
  tools: CallableTools,
  ids: Set<string>,
): WantedCall[] {
  return readArguments(text).map((json) => {
    const own = id === '' || ids.has(id) ? createCallId() : id
    ids.add(own)
    return createCall(own, findTool(name, tools) ?? safeName(name), json)
  })
}

const createCall = (id: string, name: string, json: string): WantedCall => ({
  id,
  name,
  json,
  input: parseExactJson(json) ?? json,
})

/** Prefixes that models add to the name of a tool, and the number of a call that they append. */
const [namespace, number] = [/^(?:(?:functions?|tools?|default_api)[.:/]+|mcp__)/i, /:\d+$/]
const maxNameChars = 64

/**
 * Finds the tool that a model means: the one with this name; otherwise the only one that differs in case, punctuation, prefix,
 * control tokens or additional words; otherwise the only one with this name, without its participant.
 */
function findTool(name: string, tools: CallableTools): string | undefined {
  if (tools.has(name)) return name
  const whole = cutName(name)
  return [whole, whole.replace(/\s.*$/s, ''), whole.replace(/json$/, '')]
    .map((each) => findAlike(each, tools))
    .find(isFilled)
}

function findAlike(name: string, tools: CallableTools): string | undefined {
  const wanted = toKey(name.replace(namespace, '').replace(number, ''))
  const all = [...tools]
  const byName = all.filter(([offered]) => toKey(offered) === wanted)
  const alike = byName.length > 0 ? byName : all.filter(([, tool]) => toKey(tool.name) === wanted)
  return alike.length === 1 ? alike[0]?.[0] : undefined
}

const toKey = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Converts a name to one that every provider accepts in the conversation. */
const safeName = (name: string): string =>
  cutName(name)
    .replace(/[^\w-]/g, '_')
    .slice(0, maxNameChars) || 'unnamed'

/**
 * Finds calls that a model wrote as text, because its server did not recognize them. Every call must be of an offered tool,
 * with valid arguments. If the text only consists of marked calls, invalid ones are returned too, so that the model gets an
 * error. `called`: the end of the text, from the first mark of a call.
 */
export function findWrittenCalls(text: string, called: string, tools: CallableTools): WantedCall[] {
  if (tools.size === 0) return []
  const isMarked = called !== ''
  const isAlone = isMarked && text.trim() === ''
  const written = readTextCalls(isMarked ? called : bareJson(text))
  if (written === undefined) return isAlone ? findBroken(called.trim(), tools) : []
  const calls = written.map((call) => fitCall(call, tools))
  if (calls.every((call) => call !== undefined)) return calls
  return isAlone ? written.map(({ name, args }, at) => calls[at] ?? createUnfit(name, args, tools)) : []
}

/** Returns a call that cannot be parsed, of the tool whose name it contains. */
function findBroken(called: string, tools: CallableTools): WantedCall[] {
  const [name] = [...tools.keys()].filter((each) => called.includes(each)).sort((a, b) => b.length - a.length)
  return name !== undefined && /[>\])}]$/.test(called) ? [createCall(createCallId(), name, called)] : []
}

/** Returns the text if it begins like JSON, otherwise `''`. */
const bareJson = (text: string): string => (/^\s*[[{]/.test(text) ? text : '')

function fitCall({ name, args }: TextCall, tools: CallableTools): WantedCall | undefined {
  const found = findTool(name, tools)
  const schema = found === undefined ? undefined : tools.get(found)?.inputSchema
  if (found === undefined || schema === undefined) return undefined
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const [json, another] = typeof args === 'string' ? readArguments(args) : [toJson(args, properties)]
  const input = json === undefined || another !== undefined ? undefined : parseExactJson(json)
  if (json === undefined || !isRecord(input)) return undefined
  const required = Array.isArray(schema.required) ? schema.required : []
  const isOpen = Object.keys(properties).length === 0 || Boolean(schema.additionalProperties)
  const fits =
    required.every((key) => String(key) in input) &&
    (isOpen || Object.keys(input).every((key) => key in properties))
  return fits ? createCall(createCallId(), found, json) : undefined
}

const createUnfit = (name: string, args: TextCall['args'], tools: CallableTools): WantedCall =>
  createCall(
    createCallId(),
    findTool(name, tools) ?? safeName(name),
    typeof args === 'string' ? args : toJson(args, {}),
  )

/** Converts arguments given as texts to JSON, with the types in the tool's schema. */
function toJson(
  fields: readonly (readonly [string, string])[],
  properties: Readonly<Record<string, unknown>>,
): string {
  const members = fields.map(([name, text]) => `${JSON.stringify(name)}:${toValue(text, properties[name])}`)
  return `{${members.join(',')}}`
}

function toValue(text: string, schema: unknown): string {
  const types = isRecord(schema) ? [schema.type].flat() : []
  const bare = text.trim()
  const json = pythonWords[bare] ?? bare
  return types.includes('string') || parseExactJson(json) === undefined ? JSON.stringify(text) : json
}
