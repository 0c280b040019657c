import type { TSchema } from '@sinclair/typebox'
import { Capability } from '../src/capability/schema.js'
import { errorCodes, errorHints, errors, ProtocolError } from '../src/errors.js'
import { Kind, type KindRule, kindRules } from '../src/kinds.js'
import { defaultLimits, defaultRates, type Limits, type RateClass } from '../src/limits.js'
import { payloadSchemas } from '../src/payload-schemas.js'
import { ErrorPayload } from '../src/payloads.js'

/** The table of kinds in SPEC.md, as Markdown. */
export function kindTable(): string {
  const rows = Object.values(Kind).map((kind) => {
    const { meaning, requires = [], ...standing } = kindRules[kind]
    const required = requires.map((field) => `\`${field}\``).join(', ')
    return [
      `\`${kind}\``,
      `\`${shapeOf(payloadSchemas[kind])}\``,
      required,
      standingOf({ meaning, ...standing }),
      meaning,
    ]
  })
  return markdownTable(['kind', 'payload', 'requires', 'standing', 'meaning'], rows)
}

/** The table of error codes in SPEC.md, as Markdown. */
export function errorTable(): string {
  const rows = errorCodes.map((code) => {
    const { status, meaning } = errors[code]
    const passing = new ProtocolError(code, meaning).retryable
    return [`\`${code}\``, `${status}`, meaning, errorHints[code], passing ? 'passing' : '']
  })
  return markdownTable(['code', 'HTTP', 'meaning', 'what to do', ''], rows)
}

const costs: Readonly<Record<RateClass, string>> = {
  reasoning: '`reasoning.*`: one each',
  chat: '`chat` and `chat.*` but deltas: one each',
  deltas: '`chat.delta`, `observe.typing`: one each',
  mcp: '`mcp.*`: one each',
  control: '`capability.*`, `space.*`, `participant.*`, `observe.*` but typing: one each',
  other: 'all other kinds, and frames that cannot be read: one each',
  bytes: 'the bytes of all frames but large results',
  results: 'the bytes of frames over `limits.maxEnvelopeBytes` [MEUP-1.15]',
  work: 'units of work [MEUP-7.6]',
  frames: 'what adds nothing to the log, and pings: one each [MEUP-7.7]',
  log: 'the bytes of envelopes in the log: 1 GiB a day [MEUP-7.2]',
}

/** The table of token buckets in SPEC.md, as Markdown. */
export function rateTable(): string {
  const rows = Object.entries(costs).map(([name, cost]) => {
    const { perSecond, burst } = defaultRates[name as RateClass]
    return [`\`${name}\``, cost, `${perSecond}`, `${burst}`]
  })
  return markdownTable(['class', 'what costs', 'a second', 'saved up'], rows)
}

const bounds: Readonly<Record<Exclude<keyof Limits, 'rates'>, string>> = {
  maxEnvelopeBytes: 'bytes of a frame [MEUP-1.13]',
  maxResultBytes: 'bytes of a frame with an `mcp.response` [MEUP-1.15]',
  work: 'units of work of one envelope [MEUP-7.6]',
  sendBufferBytes: 'bytes that wait for one connection [MEUP-5.8]',
  contextDepth: 'segments of a context [MEUP-2.1]',
  contextLength: 'characters of a context [MEUP-2.1]',
  connectionsPerParticipant: 'connections of one participant [MEUP-5.13]',
  agentHops: 'chats from agent to agent [MEUP-7.4]',
}

/** The table of limits in SPEC.md, as Markdown. */
export function limitTable(): string {
  const rows = Object.entries(bounds).map(([name, bound]) => [
    `\`limits.${name}\``,
    bound,
    `${defaultLimits[name as keyof typeof bounds]}`,
  ])
  return markdownTable(['limit', 'of what', 'default'], rows)
}

const standingOf = ({ gateway, free, ephemeral, live, toolCall }: KindRule): string =>
  [
    gateway && 'gateway',
    free && 'free',
    ephemeral && 'not relayed',
    (ephemeral || live) && 'not logged',
    toolCall && 'tool call',
  ]
    .filter((word) => word !== undefined)
    .join(', ')

/** Summarizes a schema: `{message, format?: "plain" | "markdown"}`. A field without a type is a string. */
function shapeOf({ properties = {}, required = [], anyOf, oneOf }: TSchema): string {
  const fields = Object.entries<TSchema>(properties).map(([name, schema]) => {
    const type = typeOf(schema)
    return name + (required.includes(name) ? '' : '?') + (type === 'string' ? '' : `: ${type}`)
  })
  const alternatives: { required: string[] }[] = anyOf ?? oneOf ?? []
  const names = alternatives.flatMap((each) => each.required).join(', ')
  const choice = names === '' ? '' : `, ${anyOf ? 'at least' : 'exactly'} one of ${names}`
  return `{${fields.join(', ')}}${choice}`
}

function typeOf(schema: TSchema): string {
  const { type, anyOf, items, properties = {} } = schema
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema === ErrorPayload.properties.code) return 'error code'
  if (schema.description === Capability.description) return 'capability'
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (type === 'array') return `${typeOf(items)}[]`
  if (type === 'object' && Object.keys(properties).length > 0) return shapeOf(schema)
  return type ?? 'any'
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
