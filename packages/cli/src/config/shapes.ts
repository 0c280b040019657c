import { Kind, type TProperties, type TSchema, type TString, Type, TypeRegistry } from '@sinclair/typebox'

/** A mistake inside a value whose type is right. */
export interface ProblemInside {
  /** JSON pointer into the value. */
  readonly pointer: string
  readonly message: string
}

// The schemas' descriptions complete the sentence "must be …", which validate.ts writes.

export const flag = Type.Boolean({ description: 'true or false' })
export const text = Type.String({ description: 'text; numbers, true and false need quotes here' })
export const word = Type.String({ minLength: 1, description: 'text, and not empty' })

export const atLeast = (minimum: number) =>
  Type.Integer({ minimum, description: `a whole number, ${minimum} or more` })

export const oneOf = <T extends string>(...values: T[]) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description: `one of ${values.join(', ')}` },
  )

export const list = <T extends TSchema>(items: T) => Type.Array(items, { description: 'a list' })

export const map = <T extends TProperties>(keys: T) =>
  Type.Object(keys, { additionalProperties: false, description: 'a map of keys and values' })

/** A map of names to values, with at least `least` entries; `names` completes "must be …" for an invalid name. */
export const named = <T extends TSchema>(name: TString, names: string, values: T, least = 0) =>
  Type.Record(name, values, {
    additionalProperties: false,
    minProperties: least,
    names,
    description: `a map of names and values${least > 0 ? `, with ${least} or more` : ''}`,
  })

/** A union of maps, discriminated by their key `kind`; `kinds` completes "must be …" for an unknown `kind`. */
export const byKind = <T extends TSchema[]>(kinds: string, variants: [...T]) =>
  Type.Union(variants, { kinds, description: 'a map of keys and values' })

/** A key that is not allowed; its description is the error message. */
export const refusedKey = (description: string) => Type.Optional(Type.Never({ description }))

/** Defines a custom schema; `problemsIn` lists the mistakes in a value. */
export function checked<T>(name: string, problemsIn: (value: unknown) => ProblemInside[]) {
  TypeRegistry.Set(name, (_schema, value) => problemsIn(value).length === 0)
  return Type.Unsafe<T>({ [Kind]: name, problemsIn })
}
