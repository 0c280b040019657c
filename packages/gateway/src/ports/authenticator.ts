/** Who a token stands for. */
export interface Identity {
  readonly participant: string
  /** Whether the token is still good; asked again after the operator's changes. Absent = for as long as anyone asks. */
  isCurrent?(): boolean
}

export interface Authenticator {
  /** `undefined` = this token opens nothing in this space. */
  authenticate(space: string, token: string): Promise<Identity | undefined>
}
