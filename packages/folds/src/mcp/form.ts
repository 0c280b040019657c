import { brief, isObject } from '../text.js'

/** The form of an `elicitation/create`: a question, and its fields. */
export interface Form {
  readonly message: string
  readonly fields: readonly FormField[]
}

export interface FormField {
  /** Key of the field in the answer. */
  readonly name: string
  readonly label: string
  readonly description: string
  readonly isRequired: boolean
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  readonly format: 'email' | 'uri' | 'date' | 'date-time' | undefined
  /** Options of a `choice` or `choices`. */
  readonly options: readonly FormOption[]
  readonly initial: Filled
  /** Minimum value, text length, or number of choices. */
  readonly min: number
  readonly max: number
}

interface FormOption {
  readonly value: string
  readonly label: string
}

/** The input of a field: text, a check mark, or the selected values. */
export type Filled = string | boolean | readonly string[]

/** The value of a field for the answer (absent = omit the field), or why the input is invalid. */
export type FieldValue = { readonly value?: unknown } | { readonly problem: string }

/** Limits: fields of a form, and options of all fields together. */
const [maxFields, maxOptions] = [50, 500]
/** Characters of a question, and of a label or a description. */
const [maxMessageChars, maxLabelChars] = [4000, 500]

type Schema = Readonly<Record<string, unknown>>

/** The form of a question; `undefined` = it asks for something that a form cannot represent. */
export function readForm({ message, requestedSchema, mode = 'form' }: Schema): Form | undefined {
  if (mode !== 'form' || typeof message !== 'string' || !isObject(requestedSchema)) return undefined
  const { properties, required } = requestedSchema
  const entries = Object.entries(isObject(properties) ? properties : {})
  const requiredNames: unknown[] = Array.isArray(required) ? required : []
  const fields = entries.map(([name, schema]) =>
    readField(name, isObject(schema) ? schema : {}, requiredNames.includes(name)),
  )
  const known = fields.filter((field) => field !== undefined)
  if (known.length < fields.length || fields.length > maxFields) return undefined
  if (known.reduce((sum, { options }) => sum + options.length, 0) > maxOptions) return undefined
  return { message: message.slice(0, maxMessageChars).toWellFormed(), fields: known }
}

function readField(name: string, schema: Schema, isRequired: boolean): FormField | undefined {
  const type = getType(schema)
  if (type === undefined) return undefined
  const [min, max] = bounds[type]
  return {
    ...{ name, isRequired, type },
    label: getText(schema.title) || getText(name),
    description: getText(schema.description),
    format: formats.find((format) => format === schema.format),
    options: getOptions(schema),
    initial: getInitial(schema.default, type),
    min: getNumber(schema[min]) ?? Number.NEGATIVE_INFINITY,
    max: getNumber(schema[max]) ?? Number.POSITIVE_INFINITY,
  }
}

const formats = ['email', 'uri', 'date', 'date-time'] as const
const bounds = {
  text: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: ['', ''],
  choice: ['', ''],
  choices: ['minItems', 'maxItems'],
} as const satisfies Record<FormField['type'], readonly [string, string]>

function getType(schema: Schema): FormField['type'] | undefined {
  const hasOptions = getOptions(schema).length > 0
  switch (schema.type) {
    case 'string':
      return hasOptions ? 'choice' : 'text'
    case 'array':
      return hasOptions ? 'choices' : undefined
    case 'number':
    case 'integer':
    case 'boolean':
      return schema.type
  }
  return undefined
}

/** Options from `enum` with `enumNames`, or `oneOf` with titles; for lists in `items`, with `anyOf`. */
function getOptions(schema: Schema): FormOption[] {
  const {
    enum: values,
    enumNames,
    oneOf,
    anyOf,
  } = schema.type === 'array' && isObject(schema.items) ? schema.items : schema
  if (Array.isArray(values)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : []
    return values
      .filter((value) => typeof value === 'string')
      .map((value, at) => ({ value, label: getText(names[at]) || getText(value) }))
  }
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : []
  return titled.flatMap((each: unknown) =>
    isObject(each) && typeof each.const === 'string'
      ? [{ value: each.const, label: getText(each.title) || getText(each.const) }]
      : [],
  )
}

function getInitial(value: unknown, type: FormField['type']): Filled {
  if (type === 'boolean') return value === true
  if (type === 'choices') return Array.isArray(value) ? value.map(String) : []
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const getText = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, maxLabelChars).toWellFormed().trim() : ''
const getNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** The value of a field in the answer; none for an empty optional field. */
export function readFilled(field: FormField, filled: Filled): FieldValue {
  if (typeof filled === 'boolean') return { value: filled }
  const isEmpty = filled.length === 0
  if (isEmpty) return field.isRequired ? { problem: 'is needed' } : {}
  return typeof filled === 'string' ? readTyped(field, filled) : readChosen(field, filled)
}

function readTyped(field: FormField, text: string): FieldValue {
  const { type, min, max, options } = field
  switch (type) {
    case 'text':
      if (text.length < min) return { problem: `has ${min} characters or more` }
      if (text.length > max) return { problem: `has ${max} characters or fewer` }
      return hasFormat(field, text) ? { value: text } : { problem: `is no ${field.format}` }
    case 'number':
    case 'integer': {
      const value = Number(text)
      if (text.trim() === '' || !Number.isFinite(value)) return { problem: 'is a number' }
      if (type === 'integer' && !Number.isInteger(value)) return { problem: 'is a whole number' }
      if (value < min) return { problem: `is ${min} or more` }
      return value > max ? { problem: `is ${max} or less` } : { value }
    }
    case 'boolean': {
      const word = text.trim().toLowerCase()
      if (['y', 'yes', 'true'].includes(word)) return { value: true }
      return ['n', 'no', 'false'].includes(word) ? { value: false } : { problem: 'is yes or no' }
    }
    case 'choice': {
      const chosen = findOption(options, text)
      return chosen === undefined ? { problem: oneOfText(options) } : { value: chosen.value }
    }
    case 'choices':
      return readChosen(
        field,
        text
          .split(',')
          .map((word) => word.trim())
          .filter((word) => word !== ''),
      )
  }
}

function readChosen({ min, max, options }: FormField, words: readonly string[]): FieldValue {
  const chosen = words.map((word) => findOption(options, word)?.value)
  if (chosen.includes(undefined)) return { problem: oneOfText(options) }
  if (chosen.length < min) return { problem: `is ${min} of them or more` }
  return chosen.length > max ? { problem: `is ${max} of them or fewer` } : { value: chosen }
}

const findOption = (options: readonly FormOption[], text: string): FormOption | undefined =>
  options.find(({ value }) => value === text) ?? options.find(({ label }) => label === text)

const oneOfText = (options: readonly FormOption[]): string =>
  brief(`is one of ${options.map(({ label }) => label).join(', ')}`, maxLabelChars)

function hasFormat({ format }: FormField, text: string): boolean {
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(text)
    case 'uri':
      return URL.canParse(text)
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
    case 'date-time':
      return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text))
    case undefined:
      return true
  }
}
