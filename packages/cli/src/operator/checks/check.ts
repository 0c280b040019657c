/** Something that was looked at. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** What was found. */
  readonly detail: string
  /** What to do about it. */
  readonly advice?: string
}

export const pass = (name: string, detail: string): Check => ({ name, ok: true, detail })

export const fail = (name: string, detail: string, advice: string): Check => ({
  name,
  ok: false,
  detail,
  advice,
})
