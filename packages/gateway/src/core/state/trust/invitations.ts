import { createHash } from 'node:crypto'

/** Admits a participant that the operator has not configured [MEUP-3.15]. */
export interface OpenInvitation {
  readonly participant: string
  /** Id of the grant: the id of the envelope with the invitation. */
  readonly id: string
  /** Hexadecimal; the token itself is never logged. */
  readonly tokenSha256: string
  /** When the invitation expires, in milliseconds since the epoch; absent = never. */
  readonly expiresAt?: number
  /** Whether the participant has joined with the token of the invitation. */
  readonly isUsed: boolean
}

/** The open invitations, one per invited participant. */
export class Invitations {
  readonly #byParticipant = new Map<string, OpenInvitation>()
  /** Participants by the hashes of their tokens. */
  readonly #byHash = new Map<string, string>()

  get size(): number {
    return this.#byParticipant.size
  }

  get(participant: string): OpenInvitation | undefined {
    return this.#byParticipant.get(participant)
  }

  list(): OpenInvitation[] {
    return [...this.#byParticipant.values()]
  }

  /** Replaces an earlier invitation of the same participant. */
  add(invitation: OpenInvitation): void {
    this.end(invitation.participant)
    this.#byParticipant.set(invitation.participant, invitation)
    this.#byHash.set(invitation.tokenSha256, invitation.participant)
  }

  use(participant: string): void {
    const invitation = this.#byParticipant.get(participant)
    if (invitation !== undefined) this.#byParticipant.set(participant, { ...invitation, isUsed: true })
  }

  end(participant: string): void {
    const invitation = this.#byParticipant.get(participant)
    if (invitation === undefined) return
    this.#byParticipant.delete(participant)
    if (this.#byHash.get(invitation.tokenSha256) === participant) this.#byHash.delete(invitation.tokenSha256)
  }

  /**
   * Finds the invitation of a token. The lookup time reveals nothing usable, because no one can construct a text with a given
   * hash.
   */
  find(token: string): OpenInvitation | undefined {
    return this.#byParticipant.get(this.#byHash.get(hashToken(token)) ?? '')
  }

  /** Whether an open invitation has this token hash. */
  knows(sha256: string): boolean {
    return this.#byHash.has(sha256)
  }
}

/** The logged form of a token: its SHA-256, hexadecimal. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
