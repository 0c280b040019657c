import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'
import { jsonOutputs, withoutJson } from '../packages/cli/src/json-outputs.js'
import { markdownTable } from '../protocol/scripts/spec-tables.js'

/** The table of commands with the output of `--json`, or the reason why a command has none. */
export function jsonTable(): string {
  const outputs: readonly (readonly [string, { readonly prints: string; readonly schema: TSchema }])[] =
    Object.entries(jsonOutputs)
  return markdownTable(
    ['command', 'with `--json`', 'schema'],
    [
      ...outputs.map(([command, { prints, schema }]) => [
        `\`meup ${command}\``,
        prints === 'one' ? 'one value' : 'one a line',
        `\`${notation(schema)}\``,
      ]),
      ...Object.entries(withoutJson).map(([command, reason]) => [`\`meup ${command}\``, 'none', reason]),
    ],
  )
}

/** Writes a schema in short: `{"url": string, "spaces": [string], "pid"?: integer}`. */
function notation(schema: TSchema): string {
  if (typeof schema.$ref === 'string') return schema.$ref
  if (Array.isArray(schema.enum)) return schema.enum.map((each) => JSON.stringify(each)).join(' or ')
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map(notation).join(' or ')
  switch (schema[Kind]) {
    case 'Array':
      return `[${notation(schema.items)}]`
    case 'Object':
      return formatObject(schema)
    case 'Record':
      return 'object'
    case 'Unknown':
      return 'any'
    default:
      return String(schema.type)
  }
}

function formatObject({ properties, additionalProperties }: TSchema): string {
  const fields = Object.entries(properties as Readonly<Record<string, TSchema>>).map(
    ([name, schema]) => `"${name}"${OptionalKind in schema ? '?' : ''}: ${notation(schema)}`,
  )
  return `{${[...fields, ...(additionalProperties === false ? [] : ['…'])].join(', ')}}`
}
