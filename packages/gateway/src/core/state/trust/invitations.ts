import { createHash } from 'node:crypto'

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
  /** Participants by the hashes of their tokens. */
  readonly #byHash = new Map<string, string>()

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

  /** Whom a token lets in. How long a hash is looked for tells nothing of one that nobody can make a text for. */
  find(token: string): Invitation | undefined {
    return this.#byParticipant.get(this.#byHash.get(hashToken(token)) ?? '')
  }

  /** Whether the token of an open invitation has this hash. */
  knows(sha256: string): boolean {
    return this.#byHash.has(sha256)
  }
}

/** What the log says of a token: its SHA-256, hexadecimal. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
