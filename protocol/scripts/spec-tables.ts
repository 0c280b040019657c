/** Writes the tables of SPEC.md that the code holds too. A test compares them, so run this after a change of either. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TSchema } from '@sinclair/typebox'
import { errorCodes, errors, ProtocolError } from '../src/errors.js'
import { type KindRule, kindRules } from '../src/kind-rules.js'
import { ErrorPayload } from '../src/payloads/system.js'

export const specPath = new URL('../SPEC.md', import.meta.url)

/** The text of SPEC.md with its generated tables as the code has them now. Throws if it lacks one. */
export function withTables(spec: string): string {
  return Object.entries({ kinds: kindTable(), errors: errorTable() }).reduce((text, [name, table]) => {
    const between = new RegExp(`(?<=<!-- generated: ${name} -->\n).*?(?=<!-- end -->)`, 's')
    if (!between.test(text)) throw new Error(`SPEC.md has no place for the table of ${name}`)
    return text.replace(between, () => `\n${table}\n\n`)
  }, spec)
}

function kindTable(): string {
  const rows = Object.entries(kindRules).map(([kind, rule]) => [
    `\`${kind}\``,
    `\`${shapeOf(rule.payload)}\``,
    (rule.requires ?? []).map((field) => `\`${field}\``).join(', '),
    standingOf(rule),
    rule.meaning,
  ])
  return table(['kind', 'payload', 'requires', 'standing', 'meaning'], rows)
}

function errorTable(): string {
  const rows = errorCodes.map((code) => {
    const { status, meaning, hint } = errors[code]
    const passing = new ProtocolError(code, meaning).retryable
    return [`\`${code}\``, `${status}`, meaning, hint, passing ? 'passing' : '']
  })
  return table(['code', 'HTTP', 'meaning', 'what to do', ''], rows)
}

const standingOf = ({ gateway, free, ephemeral, toolCall }: KindRule): string =>
  [gateway && 'gateway', free && 'free', ephemeral && 'not logged', toolCall && 'tool call']
    .filter((word) => word !== undefined)
    .join(', ')

/** A schema in few words: `{message, format?: "plain" | "markdown"}`. A field without a type is a string. */
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
  if (anyOf?.every((each: TSchema) => each.const !== undefined)) return anyOf.map(typeOf).join(' | ')
  if (anyOf) return 'capability'
  if (type === 'array') return `${typeOf(items)}[]`
  if (type === 'object' && Object.keys(properties).length > 0) return shapeOf(schema)
  return type ?? 'any'
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(specPath, withTables(readFileSync(specPath, 'utf8')))
}
