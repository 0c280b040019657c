import { pointer } from '../json.js'
import { chatKinds, Kind, literalCapabilities } from '../kinds.js'
import { PatternError } from './errors.js'
import { literalGlob } from './glob.js'
import {
  type CapabilityMeter,
  type Charged,
  checkText,
  isPlainObject,
  type Node,
  parseStrings,
  parseValue,
  patternLimits,
} from './parse.js'
import type { Capability } from './schema.js'

/**
 * A parsed capability. The pattern `**` for `to` or `context` is omitted, because it matches everything, even an absent value.
 */
export interface Rule {
  /** Index of the capability in its list; a capability with `tool` makes two rules. */
  readonly index: number
  readonly kind: Node
  readonly to?: Node
  readonly context?: Node
  readonly payload?: Node
  /** The kind, if only the literal kind grants and covers it, and no glob does [MEUP-4.11]. */
  readonly literal: string | undefined
}

type Read = Omit<Rule, 'index'>

/** Parses untrusted capabilities. Throws `PatternError`, and `WorkError` if the meter runs out. */
export function parseRules(list: readonly Capability[], charged: Charged = {}): Rule[] {
  if (!Array.isArray(list)) throw new PatternError('not_a_list', {}, '')
  const details = { count: list.length, limit: patternLimits.capabilities }
  if (details.count > details.limit) throw new PatternError('many_capabilities', details, '')
  const { listRegexWeight: limit } = patternLimits
  let size = 0
  return list.flatMap((capability: unknown, index) => {
    const meter: CapabilityMeter = { patterns: 0, regexWeight: 0, ...charged }
    const rules = parseCapability(capability, `/${index}`, meter)
    size += meter.regexWeight
    if (size > limit) throw new PatternError('large_regex', { whole: 'list', size, limit }, `/${index}`)
    return rules.map((rule) => ({ index, ...rule }))
  })
}

function parseCapability(capability: unknown, path: string, meter: CapabilityMeter): Read[] {
  if (typeof capability === 'string') {
    const kind = parseStrings(capability, path, '.', meter)
    return [{ kind: capability === Kind.chat ? anyChat : kind, literal: getLiteral(capability) }]
  }
  if (isPlainObject(capability)) {
    if (Object.hasOwn(capability, 'tool')) return parseTool(capability, path, meter)
    if (Object.hasOwn(capability, 'kind')) return [parseEnvelope(capability, path, meter)]
  }
  throw new PatternError('no_kind', {}, path)
}

function parseEnvelope(capability: Record<string, unknown>, path: string, meter: CapabilityMeter): Read {
  const kind = parseStrings(capability.kind, `${path}/kind`, '.', meter)
  const fields: { to?: Node; context?: Node; payload?: Node } = {}
  for (const [field, pattern] of Object.entries(capability)) {
    const at = `${path}/${pointer(field)}`
    if (field === 'payload') fields.payload = parseValue(pattern, at, meter)
    else if (field === 'to' || field === 'context') {
      if (pattern !== '**') fields[field] = parseStrings(pattern, at, '/', meter)
    } else if (field !== 'kind') {
      throw new PatternError('unknown_field', { field: 'kind', others: ['to', 'context', 'payload'] }, at)
    }
  }
  const isChat = isOnly(Kind.chat, capability.kind) && fields.payload === undefined
  return { kind: isChat ? anyChat : kind, literal: getLiteral(capability.kind), ...fields }
}

/**
 * Parses a capability with `tool`. `{ tool: "files/read_*", arguments: … }` makes two rules: for the call, and for its
 * notifications [MEUP-4.7].
 */
function parseTool(capability: Record<string, unknown>, path: string, meter: CapabilityMeter): Read[] {
  const extra = Object.keys(capability).find((field) => field !== 'tool' && field !== 'arguments')
  if (extra !== undefined) {
    const details = { field: 'tool', others: ['arguments'] }
    throw new PatternError('unknown_field', details, `${path}/${pointer(extra)}`)
  }
  const { tool } = capability
  const slash = typeof tool === 'string' ? tool.indexOf('/') : -1
  if (typeof tool !== 'string' || slash < 1 || slash === tool.length - 1) {
    throw new PatternError('no_tool', {}, `${path}/tool`)
  }
  checkText(tool, `${path}/tool`, meter)
  if (tool.startsWith('!')) throw new PatternError('negated_participant', {}, `${path}/tool`)
  const participant = tool.slice(0, slash)
  const to = participant === '**' ? {} : { to: parseStrings(participant, `${path}/tool`, '/', meter) }
  const params: [string, Node][] = [['name', parseValue(tool.slice(slash + 1), `${path}/tool`, meter)]]
  if (Object.hasOwn(capability, 'arguments')) {
    // The arguments are nested in two objects of the payload, so their depth begins at 2.
    params.push(['arguments', parseValue(capability.arguments, `${path}/arguments`, meter, 2)])
  }
  const call: Node = {
    type: 'object',
    fields: [
      ['method', literalGlob('tools/call', '/')],
      ['params', { type: 'object', fields: params }],
    ],
  }
  return [call, besideCalls].map((payload) => ({ kind: request, ...to, payload, literal: undefined }))
}

const request = literalGlob(Kind.mcpRequest, '.')
const besideCalls: Node = {
  type: 'object',
  fields: [['method', oneOf(['tools/list', 'ping', 'notifications/cancelled'], '/')]],
}
const anyChat = oneOf(chatKinds, '.')

function oneOf(texts: readonly string[], separator: '/' | '.'): Node {
  return { type: 'choice', some: texts.map((text) => literalGlob(text, separator)), none: [] }
}

const isOnly = (text: string, pattern: unknown): boolean =>
  pattern === text || (Array.isArray(pattern) && pattern.length === 1 && pattern[0] === text)

function getLiteral(kind: unknown): string | undefined {
  const literal = typeof kind === 'string' ? dotted(kind) : ''
  return literalCapabilities.has(literal) ? literal : undefined
}

/** Writes a kind with the separator `.` of the wire format. */
export const dotted = (kind: string): string => (kind.includes('/') ? kind.replaceAll('/', '.') : kind)
