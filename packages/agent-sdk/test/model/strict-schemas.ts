import { isObject } from '@meup/folds'

export type Provider = 'openai' | 'anthropic' | 'gemini'

type Schema = Readonly<Record<string, unknown>>
type Rule = (schema: Schema, isTop: boolean) => string | false

const keysOf = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : [])

/** Rules for tool schemas that every provider enforces. */
const common: readonly Rule[] = [
  ({ type }, isTop) => isTop && type !== 'object' && 'type must be "object"',
  ({ required }) =>
    required !== undefined && !Array.isArray(required) && `${required} is not of type "array"`,
  ({ properties }) => properties !== undefined && !isObject(properties) && 'properties is no object',
]

/** The rules for schemas, with error messages, by provider. */
const rules: Readonly<Record<Provider, readonly Rule[]>> = {
  openai: [
    ...common,
    (schema, isTop) =>
      isTop &&
      ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((name) => name in schema) &&
      `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level`,
    ({ type, items }) =>
      (type === 'array' || (Array.isArray(type) && type.includes('array'))) &&
      !isObject(items) &&
      'array schema missing items',
  ],
  anthropic: [
    ...common,
    (schema, isTop) =>
      isTop &&
      ['oneOf', 'anyOf', 'allOf'].some((name) => name in schema) &&
      'input_schema does not support oneOf, allOf, or anyOf at the top level',
    ({ properties }) =>
      keysOf(properties).some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) &&
      "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    ({ $ref }) => typeof $ref === 'string' && `unresolvable reference ${$ref}`,
  ],
  gemini: [
    ...common,
    (schema) => {
      const known = [
        'type',
        'description',
        'properties',
        'required',
        'items',
        'enum',
        'format',
        'nullable',
        'minItems',
        'maxItems',
        'title',
      ]
      const unknown = Object.keys(schema).find((name) => !known.includes(name))
      return unknown !== undefined && `Unknown name "${unknown}": Cannot find field.`
    },
    ({ type }) => typeof type !== 'string' && 'type must be specified',
    ({ type, items }) => type === 'array' && !isObject(items) && 'items: missing field',
    ({ type, enum: values }) =>
      values !== undefined &&
      (type !== 'string' ||
        !Array.isArray(values) ||
        values.some((each) => typeof each !== 'string' || each === '')) &&
      'enum: only allowed for STRING type',
    ({ required, properties }) =>
      Array.isArray(required) &&
      required.some((key) => !keysOf(properties).includes(key)) &&
      'required: property is not defined',
    ({ format }) =>
      format !== undefined &&
      !['enum', 'date-time'].includes(String(format)) &&
      `format: only 'enum' and 'date-time' are supported`,
  ],
}

/** The error message with which a provider refuses a schema; `undefined` = it accepts the schema. */
export function findRefusal(provider: Provider, schema: Schema, isTop = true): string | undefined {
  for (const rule of rules[provider]) {
    const problem = rule(schema, isTop)
    if (problem !== false) return problem
  }
  const { properties, items, anyOf, oneOf, allOf } = schema
  const below = [Object.values(isObject(properties) ? properties : {}), [items], anyOf, oneOf, allOf]
  for (const each of below.flat()) {
    const problem = isObject(each) ? findRefusal(provider, each, false) : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}
