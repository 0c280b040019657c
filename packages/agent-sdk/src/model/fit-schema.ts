import { isObject } from '@meup/folds'
import { parseExact, stringifyExact } from '@meup/protocol'
import { findPlace, holders } from '../agent/schema-keywords.js'
import { splitJson } from '../extract/json-text.js'

type Schema = Readonly<Record<string, unknown>>
/** Schemas by property name. */
export type Schemas = Readonly<Record<string, object | boolean>>

interface FittedSchema {
  readonly schema: Schema & { readonly properties: Schemas }
  /** The tool's own property names, by the names in the schema for the model. */
  readonly names: ReadonlyMap<string, string>
}

/** Property names that Anthropic, the strictest provider, accepts. */
const plainKey = /^[\w.-]{1,64}$/
/** Maximum references that are resolved by inlining. A schema with more would be too large for a model. */
const maxInlined = 2000

/** Keywords that are not needed once references are resolved. */
const documentKeywords: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', '$ref'],
])
/** Keywords whose value may legitimately be `null`. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'example'])
/**
 * Keywords that OpenAI and Anthropic refuse at the top level of a schema. They also refuse alternatives, which are merged
 * instead.
 */
const refusedAtTop: ReadonlySet<string> = new Set(['not', 'enum', 'const', 'if', 'then', 'else'])

/**
 * Converts the schema of a tool's arguments to a form that all providers accept: resolves references, merges alternatives at
 * the top level, simplifies property names, and removes empty keywords. Otherwise one refused schema would fail the whole
 * request. Arguments need not be validated with the result, since tools validate them.
 */
export function fitSchema(schema: Schema): FittedSchema {
  const fitter = new Fitter(schema)
  const { properties, ...rest } = mergeAlternatives(fitter.fit(schema))
  return {
    schema: { ...rest, type: 'object', properties: isObject(properties) ? schemasIn(properties) : {} },
    names: fitter.names,
  }
}

/** Keeps only valid schemas, because providers refuse all other values. */
const schemasIn = (properties: Schema): Schemas =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      isObject(schema) || typeof schema === 'boolean' ? [[name, schema] as const] : [],
    ),
  )

/** Renames the properties of arguments back to the tool's names. */
export function restoreNames<Value extends object>(args: Value, names: ReadonlyMap<string, string>): Value {
  return names.size === 0 ? args : (parseExact(restoreNamesIn(stringifyExact(args), names)) as Value)
}

function restoreNamesIn(json: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0 || !/^\s*[[{]/.test(json)) return json
  const isList = json.trimStart().startsWith('[')
  const parts = splitJson(json).map(([name, part]) => {
    const value = restoreNamesIn(part, names)
    return isList ? value : `${JSON.stringify(names.get(name) ?? name)}:${value}`
  })
  return isList ? `[${parts.join(',')}]` : `{${parts.join(',')}}`
}

class Fitter {
  readonly #root: Schema
  readonly #json: string
  readonly names = new Map<string, string>()
  readonly #given = new Map<string, string>()
  #inlined = 0

  constructor(root: Schema) {
    this.#root = root
    this.#json = JSON.stringify(root)
  }

  /** `within`: the references being resolved. A recursive schema ends at the second occurrence. */
  fit(schema: Schema, within: readonly string[] = []): Schema {
    const { $ref } = schema
    if (typeof $ref === 'string') {
      const target = within.includes($ref) ? undefined : this.#resolve($ref)
      const { $ref: _, ...siblings } = schema
      return target === undefined
        ? this.fit(siblings, within)
        : this.fit({ ...target, ...siblings }, [...within, $ref])
    }
    const fitted = Object.fromEntries(
      Object.entries(schema).flatMap(([keyword, value]) => {
        if (documentKeywords.has(keyword) || keyword === 'required') return []
        if (value === null && !dataKeywords.has(keyword)) return []
        return [[keyword, this.#fitKeyword(keyword, value, within)]]
      }),
    )
    return { ...fitted, ...this.#fitRequired(schema.required, fitted.properties), ...fitItems(fitted) }
  }

  #fitKeyword(keyword: string, value: unknown, within: readonly string[]): unknown {
    const fit = (each: unknown): unknown =>
      isObject(each) ? this.fit(each, within) : each === true ? {} : each
    const holder = holders.get(keyword)
    if (holder === 'list') return Array.isArray(value) ? value.map(fit) : []
    if (holder === 'map') {
      const entries = isObject(value) ? Object.entries(value) : []
      const isNamed = keyword === 'properties'
      return Object.fromEntries(
        entries.map(([key, each]) => [isNamed ? this.#plain(key) : key, isObject(each) ? fit(each) : {}]),
      )
    }
    if (holder !== 'one') return value
    // In earlier drafts, a list in `items` describes a tuple: its schemas become alternatives.
    if (Array.isArray(value)) return alternatives(value.map(fit))
    return typeof value === 'boolean' && keyword !== 'items' ? value : fit(value)
  }

  #fitRequired(required: unknown, properties: unknown): Schema {
    const keys = Array.isArray(required) ? required.map((key) => this.#given.get(String(key)) ?? key) : []
    return requiring(keys, properties)
  }

  #plain(key: string): string {
    if (plainKey.test(key)) return key
    const known = this.#given.get(key)
    if (known !== undefined) return known
    const base = key.replace(/[^\w.-]/g, '_').slice(0, 56) || '_'
    let name = base
    const isTaken = (): boolean => this.names.has(name) || this.#json.includes(JSON.stringify(name))
    for (let number = 2; isTaken(); number++) name = `${base}_${number}`
    this.#given.set(key, name)
    this.names.set(name, key)
    return name
  }

  /** Resolves a reference in the same document: `#/$defs/item`. */
  #resolve(reference: string): Schema | undefined {
    this.#inlined++
    if (!/^#(?:\/|$)/.test(reference) || this.#inlined > maxInlined) return undefined
    const place = findPlace(this.#root, reference)
    return isObject(place) ? place : undefined
  }
}

/** Adds `items` to the schema of a list: OpenAI and Google require it. */
function fitItems({ type, items }: Schema): Schema {
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'))
  return isList && !isObject(items) ? { items: {} } : {}
}

/**
 * Merges the alternatives at the top level into one object with all their properties. Its description explains which
 * combinations are valid.
 */
function mergeAlternatives(schema: Schema): Schema {
  const { anyOf, oneOf, allOf, dependentSchemas, ...own } = schema
  const rest = Object.fromEntries(Object.entries(own).filter(([keyword]) => !refusedAtTop.has(keyword)))
  const together = list(allOf).map(mergeAlternatives)
  const choices = [list(anyOf).map(mergeAlternatives), list(oneOf).map(mergeAlternatives)]
  const depending = [own.then, own.else, ...Object.values(Object(dependentSchemas))]
  const sometimes = list(depending).map(mergeAlternatives)
  if ([...together, ...choices.flat(), ...sometimes].length === 0) return rest
  const parts = [rest, ...together, ...choices.flat(), ...sometimes]
  const keys = [
    ...new Set(parts.flatMap(({ properties }) => Object.keys(isObject(properties) ? properties : {}))),
  ]
  const properties = Object.fromEntries(
    keys.map((key) => [
      key,
      alternatives(
        parts.flatMap(({ properties }) =>
          isObject(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [],
        ),
      ),
    ]),
  )
  const always = [rest, ...together].flatMap(getRequired)
  const inEach = choices.flatMap((choice) =>
    choice.length === 0
      ? []
      : getRequired(choice[0]).filter((key) => choice.every((each) => getRequired(each).includes(key))),
  )
  const description = [
    ...parts.slice(0, 1 + together.length).map((each) => each.description),
    ...choices.map(describeChoice),
  ].filter((text) => typeof text === 'string' && text !== '')
  const {
    additionalProperties: _,
    required: __,
    ...merged
  } = Object.assign({}, ...together.toReversed(), rest)
  return {
    ...merged, // Drops `additionalProperties`, because each branch lists only its own properties.
    properties,
    ...requiring([...always, ...inEach], properties),
    ...(description.length > 0 && { description: description.join(' ') }),
  }
}

/** Describes valid combinations: "Give either a and b, or c." */
function describeChoice(choice: readonly Schema[]): string {
  const sets = [...new Set(choice.map((each) => getRequired(each).join(' and ')))].filter((set) => set !== '')
  return sets.length < 2 ? '' : `Give either ${sets.join(', or ')}.`
}

/** Returns `required` without names that are not properties; omits an empty list. Some providers refuse both. */
function requiring(keys: readonly unknown[], properties: unknown): Schema {
  const known = isObject(properties) ? properties : {}
  const required = [...new Set(keys)].filter((key) => typeof key === 'string' && Object.hasOwn(known, key))
  return required.length > 0 ? { required } : {}
}

const getRequired = (schema: Schema | undefined): string[] =>
  Array.isArray(schema?.required) ? schema.required.map(String) : []

const list = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Combines schemas with `anyOf`, unless they are equal. */
function alternatives(schemas: readonly unknown[]): unknown {
  const different = [...new Map(schemas.map((each) => [JSON.stringify(each), each])).values()]
  return different.length === 1 ? different[0] : different.length === 0 ? {} : { anyOf: different }
}

/** Keywords that every provider supports. */
const plainKeywords = ['type', 'description', 'properties', 'required', 'items', 'enum'] as const
const plainTypes: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
])

/**
 * Simplifies a schema for providers that refuse the fitted one: keeps only common keywords, one type per value, and enums of
 * strings.
 */
export function toPlainSchema(schema: Schema): Schema {
  const { anyOf, oneOf } = schema
  const choice = [schema, ...list(anyOf), ...list(oneOf)]
  const types = choice.flatMap(({ type }) => type).filter((type) => plainTypes.has(type))
  const type = types[0] ?? (isObject(schema.properties) ? 'object' : 'string')
  const plain = Object.fromEntries(
    plainKeywords.flatMap((keyword) => {
      const value = choice.find((each) => each[keyword] !== undefined)?.[keyword]
      return value === undefined ? [] : [[keyword, value] as const]
    }),
  )
  const { properties, items, enum: texts, required, ...rest } = plain
  const areTexts = type === 'string' && Array.isArray(texts)
  const chosen = areTexts ? texts.filter((each) => typeof each === 'string' && each !== '') : []
  return {
    ...rest,
    type,
    ...(type === 'object' && { properties: mapValues(properties, toPlainSchema) }),
    ...(type === 'object' && Array.isArray(required) && { required }),
    ...(type === 'array' && { items: toPlainSchema(isObject(items) ? items : {}) }),
    ...(chosen.length > 0 && { enum: chosen }),
  }
}

const mapValues = (value: unknown, map: (schema: Schema) => Schema): Schema =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([key, each]) => [key, map(isObject(each) ? each : {})]),
  )
