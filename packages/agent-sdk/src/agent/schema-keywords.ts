import { isObject } from '@meup/folds'

/** Keywords that contain schemas: a map of them, a list, or one. All other keywords contain data. */
export const holders = new Map<string, 'map' | 'list' | 'one'>([
  ...['properties', 'patternProperties', 'dependentSchemas'].map((name) => [name, 'map'] as const),
  ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].map((name) => [name, 'list'] as const),
  ...['items', 'additionalProperties', 'unevaluatedProperties', 'contains'].map(
    (name) => [name, 'one'] as const,
  ),
  ...['propertyNames', 'not', 'if', 'then', 'else'].map((name) => [name, 'one'] as const),
])

type Json = Readonly<Record<string, unknown>>
type Test = (value: unknown, root: Json) => boolean

const types = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
const isText: Test = (value) => typeof value === 'string'
const isNumber: Test = Number.isFinite
const isCount: Test = (value) => Number.isInteger(value) && Number(value) >= 0
const isTexts: Test = (value) => Array.isArray(value) && value.every((each) => typeof each === 'string')
const isType: Test = (value) =>
  Array.isArray(value) ? value.every((each) => types.has(each)) : types.has(value)
const isPattern: Test = (value) => {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') !== undefined
  } catch {
    return false
  }
}
/** Whether a reference is valid. References to other documents are not resolved, so they count as valid. */
const isReference: Test = (value, root) =>
  typeof value === 'string' && (!value.startsWith('#/') || findPlace(root, value) !== undefined)

/** Keywords whose value is checked, with a description of a valid value. */
const data = new Map<string, readonly [fits: Test, must: string]>([
  ['type', [isType, `must be one of ${[...types].join(', ')}, or a list of these`]],
  ['required', [isTexts, 'must be a list of names']],
  ['enum', [Array.isArray, 'must be a list']],
  ['pattern', [isPattern, 'must be a regular expression']],
  ['$ref', [isReference, 'must name a place in this schema']],
  ...['description', 'title', 'format', '$schema', '$id'].map(
    (name) => [name, [isText, 'must be a text']] as const,
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (name) => [name, [isNumber, 'must be a number']] as const,
  ),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
    (name) => [name, [isCount, 'must be a whole number, 0 or more']] as const,
  ),
])
const definitions: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Whether the object has any keyword of JSON Schema, as every intended schema does. */
export const hasKeyword = (schema: Json): boolean =>
  Object.keys(schema).some((name) => data.has(name) || holders.has(name) || name === 'const')

/**
 * Describes why a value is not a JSON Schema, with the path of the fault; `undefined` = no fault that can be found without a
 * validator.
 */
export function findSchemaFault(schema: unknown, path = '', root = schema): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${path || 'it'} must be an object or a boolean`
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${path}/${escapeKey(keyword)}`
    const [fits, must] = data.get(keyword) ?? []
    if (fits?.(value, isObject(root) ? root : schema) === false) return `${at} ${must}`
    const holder = definitions.has(keyword) ? 'map' : holders.get(keyword)
    if (holder === undefined) continue
    const isList = holder === 'list' || (keyword === 'items' && Array.isArray(value))
    if (isList && !Array.isArray(value)) return `${at} must be a list of schemas`
    if (holder === 'map' && !isObject(value)) return `${at} must be an object of schemas`
    const held = isList || holder === 'map' ? Object.entries(Object(value)) : [['', value] as const]
    for (const [name, each] of held) {
      const fault = findSchemaFault(each, name === '' ? at : `${at}/${escapeKey(name)}`, root)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

/** Resolves a reference within a document, such as `#/$defs/item`. */
export function findPlace(root: Json, reference: string): unknown {
  let place: unknown = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    place =
      typeof place === 'object' && place !== null && Object.hasOwn(place, key)
        ? Reflect.get(place, key)
        : undefined
  }
  return place
}

const escapeKey = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
