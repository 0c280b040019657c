/** Untyped JSON from a provider. The functions below return its values if they have the expected type. */
export type Json = Readonly<Record<string, unknown>>

export const record = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined

export const string = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Returns the objects of a list; a single object counts as a list. */
export const records = (value: unknown): Json[] => {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.map(record).filter((each) => each !== undefined)
}

export const countMatches = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

export const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''
