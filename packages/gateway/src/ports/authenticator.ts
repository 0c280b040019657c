/** Who a token stands for. */
export interface Identity {
  readonly participant: string
}

export interface Authenticator {
  /** `undefined` = this token opens nothing in this space. */
  authenticate(space: string, token: string): Promise<Identity | undefined>
}
