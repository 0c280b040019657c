/** A check of `meup doctor`. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** The finding, shown after the name. */
  readonly detail: string
  /** How to fix a failed check. */
  readonly advice?: string
}

export const pass = (name: string, detail: string): Check => ({ name, ok: true, detail })

export const fail = (name: string, detail: string, advice: string): Check => ({
  name,
  ok: false,
  detail,
  advice,
})
