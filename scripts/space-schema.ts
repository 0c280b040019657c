import { Capability } from '@meup/protocol'
import { Kind, type TSchema, Type } from '@sinclair/typebox'
import { OneSpaceFile, SeveralSpacesFile } from '../packages/cli/src/config/schema.js'

type Json = Readonly<Record<string, unknown>>

/** Keywords that are not part of JSON Schema. */
const own = ['names', 'kinds', 'problemsIn']
/** Any text may contain `${NAME}`, a variable of the environment. */
const variable = String.raw`\$\{`

/**
 * Creates the JSON Schema of space.yaml for editors. It accepts errors that only `meup` itself can find, such as an invalid
 * pattern.
 */
export function createSpaceSchema(): object {
  const body = {
    if: { required: ['spaces'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: convert(SeveralSpacesFile),
    else: convert(OneSpaceFile),
  }
  const definitions = hoist(body)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'space.yaml',
    description: 'The configuration of a gateway of MEUP spaces',
    ...body,
    definitions,
  }
}

/** Converts a schema of this repository to JSON Schema. `key`: name of the property that the schema is for. */
function convert(schema: TSchema, key = ''): Json {
  if (schema[Kind] === 'meup.capabilities') return convert(Type.Array(Capability, { description: 'a list' }))
  if (schema[Kind] === 'meup.safety') return {}
  const values = schema.anyOf?.map((each: TSchema) => each.const) as unknown[] | undefined
  if (values?.every((value) => value !== undefined)) {
    const choice = { enum: values, description: schema.description }
    const isName = key === 'kind' || values.every((value) => typeof value !== 'string')
    return isName ? choice : { anyOf: [choice, { type: 'string', pattern: variable }] }
  }
  const fields = Object.entries(schema).filter(([name]) => !own.includes(name))
  return Object.fromEntries(fields.map(([name, value]) => [name, convertField(name, value)]))
}

function convertField(name: string, value: unknown): unknown {
  switch (name) {
    case 'pattern':
      return `${value}|${variable}`
    case 'properties': {
      // Schemas list some keys only to refuse them with a reason; in the JSON Schema, they are unknown keys.
      const allowed = Object.entries(value as Record<string, TSchema>).filter(
        ([, each]) => each[Kind] !== 'Never',
      )
      return Object.fromEntries(allowed.map(([key, each]) => [key, convert(each, key)]))
    }
    case 'patternProperties':
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([key, each]) => [key, convert(each)]),
      )
    case 'items':
      return convert(value as TSchema)
    case 'anyOf':
    case 'allOf':
      return (value as TSchema[]).map((each) => convert(each))
  }
  return value
}

/** Minimum characters of a schema as JSON that becomes a definition. */
const minShared = 200

/** Replaces repeated schemas by references to definitions, named by their keys. Returns the definitions. */
function hoist(body: object): Json {
  const counts = new Map<string, number>()
  visitProperties(body, (_, value) => {
    const json = JSON.stringify(value)
    counts.set(json, (counts.get(json) ?? 0) + 1)
    return undefined
  })
  const names = new Map<string, string>()
  const definitions: Record<string, unknown> = {}
  visitProperties(body, (key, value) => {
    const json = JSON.stringify(value)
    if (json.length < minShared || (counts.get(json) ?? 0) < 2) return undefined
    let name = names.get(json)
    if (name === undefined) {
      for (let number = 1; name === undefined || name in definitions; number++)
        name = number === 1 ? key : `${key}${number}`
      names.set(json, name)
      definitions[name] = value
    }
    return { $ref: `#/definitions/${name}` }
  })
  return definitions
}

/** Calls `visit` with the schema of each property, the outer ones first. Replaces the schema by the result, if there is one. */
function visitProperties(node: unknown, visit: (key: string, schema: object) => object | undefined): void {
  if (typeof node !== 'object' || node === null) return
  for (const [name, child] of Object.entries(node)) {
    if (name !== 'properties') {
      visitProperties(child, visit)
      continue
    }
    for (const [key, schema] of Object.entries(child as Record<string, object>)) {
      const instead = visit(key, schema)
      if (instead !== undefined) (child as Record<string, object>)[key] = instead
      visitProperties(schema, visit)
    }
  }
}
