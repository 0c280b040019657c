/** What came over the wire is anything: these read it where it is what it should be. */
export type Json = Readonly<Record<string, unknown>>

export const record = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined

export const string = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Of a list its objects; an object is a list of one. */
export const records = (value: unknown): Json[] => {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.map(record).filter((each) => each !== undefined)
}

export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

export const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''
