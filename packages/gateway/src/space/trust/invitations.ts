import { createHash, timingSafeEqual } from 'node:crypto'

/** What lets a participant in that the operator has not configured [MEUP-3.15]. */
export interface Invitation {
  readonly participant: string
  /** Of its grant, which is the envelope's. */
  readonly id: string
  /** Hexadecimal; the token itself is in no log. */
  readonly tokenSha256: string
  /** Milliseconds since the epoch; absent = no end. */
  readonly expiresAt?: number
  /** Whether anybody has come by it. */
  readonly isUsed: boolean
}

/** The invitations that are open: one for each invited participant. */
export class Invitations {
  readonly #byParticipant = new Map<string, Invitation>()

  get size(): number {
    return this.#byParticipant.size
  }

  get(participant: string): Invitation | undefined {
    return this.#byParticipant.get(participant)
  }

  list(): Invitation[] {
    return [...this.#byParticipant.values()]
  }

  /** Takes the place of an earlier one. */
  add(invitation: Invitation): void {
    this.#byParticipant.delete(invitation.participant)
    this.#byParticipant.set(invitation.participant, invitation)
  }

  use(participant: string): void {
    const invitation = this.#byParticipant.get(participant)
    if (invitation !== undefined) this.#byParticipant.set(participant, { ...invitation, isUsed: true })
  }

  end(participant: string): void {
    this.#byParticipant.delete(participant)
  }

  /** Whom a token lets in. */
  find(token: string): Invitation | undefined {
    const presented = Buffer.from(hashOf(token))
    return this.list().find(({ tokenSha256 }) => {
      const known = Buffer.from(tokenSha256)
      return known.length === presented.length && timingSafeEqual(known, presented)
    })
  }
}

/** What the log says of a token: its SHA-256, hexadecimal. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
