import type { Capability } from '@meup/protocol'

/** Who a token stands for. */
export interface Identity {
  readonly participant: string
  /** Makes whom it stands for a participant, where the operator has not configured one of this name. */
  readonly membership?: Membership
  /** Milliseconds since the epoch; from then on the token is no longer good. Absent = it does not end by itself. */
  readonly expiresAt?: number
  /** Whether the token is still good; asked again after the operator's changes. Absent = for as long as anyone asks. */
  isCurrent?(): boolean
}

/** What a token makes of somebody. Of two tokens for one participant the one that was issued later counts. */
export interface Membership {
  /** Absent = the space's defaults. */
  readonly capabilities?: readonly Capability[]
  /** Seconds since the epoch. */
  readonly issuedAt: number
}

export interface Authenticator {
  /** `undefined` = this token opens nothing in this space. */
  authenticate(space: string, token: string): Promise<Identity | undefined>
  /** Whether this is a token of any space, which nobody may see. Absent = none is known before somebody comes with it. */
  isToken?(candidate: string): boolean
}
