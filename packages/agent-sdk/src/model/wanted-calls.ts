import { customAlphabet } from 'nanoid'
import type { SpaceTool } from '../agent/tool-choice.js'
import { pythonWords, readTextCalls, type TextCall } from '../extract/call-forms.js'
import { isFilled } from '../extract/json.js'
import { readArguments } from '../extract/json-text.js'
import { cutName } from '../extract/tag-tokens.js'
import type { WantedCall } from './dialogue.js'
import { parseJson } from './exact-arguments.js'
import { isRecord } from './rationale.js'

export type Tools = ReadonlyMap<string, Pick<SpaceTool, 'name' | 'inputSchema'>>

/** A call as its provider gives it. */
interface GivenCall {
  readonly id: string
  readonly name: string
  /** The text of the arguments. */
  readonly text: string
}

/** Nine letters and digits: every provider takes such an id, and Mistral's takes no other. */
const createCallId = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 9)

/** Calls by the name of a tool that is offered, with ids that are not among `ids` yet: the text may hold the arguments of several. */
export function normaliseCall({ id, name, text }: GivenCall, tools: Tools, ids: Set<string>): WantedCall[] {
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
  input: parseJson(json) ?? json,
})

/** Names of namespaces that models put before the name of a tool, and the number of the call behind it. */
const [namespace, number] = [/^(?:(?:functions?|tools?|default_api)[.:/]+|mcp__)/i, /:\d+$/]
const maxNameChars = 64

/**
 * The name of the tool that a model means: this one, or the only one that differs in nothing but capitals, punctuation, a namespace,
 * control tokens and further words; else the only one that is called so at its participant.
 */
function findTool(name: string, tools: Tools): string | undefined {
  if (tools.has(name)) return name
  const whole = cutName(name)
  return [whole, whole.replace(/\s.*$/s, ''), whole.replace(/json$/, '')]
    .map((each) => findAlike(each, tools))
    .find(isFilled)
}

function findAlike(name: string, tools: Tools): string | undefined {
  const wanted = toKey(name.replace(namespace, '').replace(number, ''))
  const all = [...tools]
  const byName = all.filter(([offered]) => toKey(offered) === wanted)
  const alike = byName.length > 0 ? byName : all.filter(([, tool]) => toKey(tool.name) === wanted)
  return alike.length === 1 ? alike[0]?.[0] : undefined
}

const toKey = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A name that no provider refuses in the history of a conversation. */
const safeName = (name: string): string =>
  cutName(name)
    .replace(/[^\w-]/g, '_')
    .slice(0, maxNameChars) || 'unnamed'

/**
 * The calls that a model wrote as text, of which its server knew nothing: they stand at the end of it, and each is one of a tool that is
 * offered, with arguments that fit. Where the model said nothing but calls with marks, they are calls as well if there is no such
 * tool, or if they cannot be read: the model is told so. `called`: what the text ends in, from the first mark of a call on.
 */
export function findWrittenCalls(text: string, called: string, tools: Tools): WantedCall[] {
  if (tools.size === 0) return []
  const isMarked = called !== ''
  const isAlone = isMarked && text.trim() === ''
  const written = readTextCalls(isMarked ? called : bareJson(text))
  if (written === undefined) return isAlone ? findBroken(called.trim(), tools) : []
  const calls = written.map((call) => fitCall(call, tools))
  if (calls.every((call) => call !== undefined)) return calls
  return isAlone ? written.map(({ name, args }, at) => calls[at] ?? createUnfit(name, args, tools)) : []
}

/** A call that cannot be read, of the tool that it names. */
function findBroken(called: string, tools: Tools): WantedCall[] {
  const [name] = [...tools.keys()].filter((each) => called.includes(each)).sort((a, b) => b.length - a.length)
  return name !== undefined && /[>\])}]$/.test(called) ? [createCall(createCallId(), name, called)] : []
}

/** A text that is nothing but JSON. */
const bareJson = (text: string): string => (/^\s*[[{]/.test(text) ? text : '')

function fitCall({ name, args }: TextCall, tools: Tools): WantedCall | undefined {
  const found = findTool(name, tools)
  const schema = found === undefined ? undefined : tools.get(found)?.inputSchema
  if (found === undefined || schema === undefined) return undefined
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const [json, another] = typeof args === 'string' ? readArguments(args) : [toJson(args, properties)]
  const input = json === undefined || another !== undefined ? undefined : parseJson(json)
  if (json === undefined || !isRecord(input)) return undefined
  const required = Array.isArray(schema.required) ? schema.required : []
  const isOpen = Object.keys(properties).length === 0 || Boolean(schema.additionalProperties)
  const fits =
    required.every((key) => String(key) in input) &&
    (isOpen || Object.keys(input).every((key) => key in properties))
  return fits ? createCall(createCallId(), found, json) : undefined
}

const createUnfit = (name: string, args: TextCall['args'], tools: Tools): WantedCall =>
  createCall(
    createCallId(),
    findTool(name, tools) ?? safeName(name),
    typeof args === 'string' ? args : toJson(args, {}),
  )

/** Fields whose values are bare texts, each as its schema has it. */
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
  return types.includes('string') || parseJson(json) === undefined ? JSON.stringify(text) : json
}
