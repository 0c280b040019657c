import type { Capability } from '@meup/protocol'

/** The holder of a token. */
export interface Identity {
  readonly participant: string
  /** Set if the issuer may create this participant; ignored for configured ones. */
  readonly membership?: Membership
  /** Milliseconds since the epoch; from then on the token is invalid. Absent = no expiry. */
  readonly expiresAt?: number
  /** Whether the token is still valid; asked again after changes of the configuration. Absent = always. */
  isCurrent?(): boolean
}

/** The membership that a token grants. If a participant has two tokens, the one issued later applies. */
export interface Membership {
  /** Absent = the space's defaults. */
  readonly capabilities?: readonly Capability[]
  /** When the token was issued, in seconds since the epoch. */
  readonly issuedAt: number
}

export interface Authenticator {
  /** `undefined` = this token is not valid for this space. */
  authenticate(space: string, token: string): Promise<Identity | undefined>
  /** Whether this is a token of any space, so that it is masked in the log. Absent = tokens are not known in advance. */
  isToken?(candidate: string): boolean
}
