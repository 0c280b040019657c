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

/** A call as received from its provider. */
interface GivenCall {
  readonly id: string
  readonly name: string
  /** The text of the arguments. */
  readonly text: string
}

/** Nine letters and digits: every provider accepts such an id, and Mistral requires it. */
const createCallId = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 9)

/** Calls by the names of offered tools, with ids not in `ids`; the text may contain the arguments of several calls. */
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

/** Namespaces that models prepend to the name of a tool, and the number of a call that they append. */
const [namespace, number] = [/^(?:(?:functions?|tools?|default_api)[.:/]+|mcp__)/i, /:\d+$/]
const maxNameChars = 64

/**
 * The tool that a model means: an exact match, or the only one that differs only in case, punctuation, namespace, control
 * tokens and further words, or the only one of that name at any participant.
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

/** A name that every provider accepts in the history. */
const safeName = (name: string): string =>
  cutName(name)
    .replace(/[^\w-]/g, '_')
    .slice(0, maxNameChars) || 'unnamed'

/**
 * Calls that a model wrote as text at its end, unrecognized by its server: each of an offered tool with valid arguments. If the
 * text consists of marked calls only, unknown tools and unparsable calls count as well, and the model gets an error. `called`:
 * the end of the text, from the first mark of a call on.
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

/** An unparsable call of the tool that it names. */
function findBroken(called: string, tools: CallableTools): WantedCall[] {
  const [name] = [...tools.keys()].filter((each) => called.includes(each)).sort((a, b) => b.length - a.length)
  return name !== undefined && /[>\])}]$/.test(called) ? [createCall(createCallId(), name, called)] : []
}

/** The text, if it is only JSON. */
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

/** Encodes fields with plain texts by the types in their schema. */
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
