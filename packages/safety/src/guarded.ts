export interface Finding {
  readonly rule: string
  readonly action: 'mask' | 'block' | 'sanitize' | 'review'
}

export interface Guarded {
  /** Empty if it is withheld. */
  readonly text: string
  readonly isWithheld: boolean
  /** Each rule once. */
  readonly findings: readonly Finding[]
}
