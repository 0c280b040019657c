/** The result of a check. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** The finding. */
  readonly detail: string
  /** The remedy. */
  readonly advice?: string
}

export const pass = (name: string, detail: string): Check => ({ name, ok: true, detail })

export const fail = (name: string, detail: string, advice: string): Check => ({
  name,
  ok: false,
  detail,
  advice,
})
