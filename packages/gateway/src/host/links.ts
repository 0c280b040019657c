import { createHash, randomBytes } from 'node:crypto'
import { hashToken } from '../core/state/trust/invitations.js'
import type { Authenticator } from '../ports/authenticator.js'
import type { Clock } from '../ports/clock.js'
import type { SpaceHost } from './space-host.js'

/** Milliseconds until a code expires. */
const linkMs = 60_000
/** Unused codes of one participant; one more removes the oldest. */
const maxPerParticipant = 8

/** A token for which a one-time code was created. */
export interface OneTimeLink {
  readonly space: string
  readonly participant: string
  readonly token: string
}

/** One-time codes for tokens, in memory only [MEUP-11.13]. Stores digests of the codes. */
export class Links {
  readonly #clock: Clock
  /** Links by the digest of their code; the oldest first. */
  readonly #links = new Map<string, OneTimeLink & { readonly expiresAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `expiresAt`: milliseconds since the epoch. */
  make(link: OneTimeLink): { readonly code: string; readonly expiresAt: number } {
    this.#forget()
    const { space, participant } = link
    const own = [...this.#links].filter(
      ([, each]) => each.space === space && each.participant === participant,
    )
    for (const [digest] of own.slice(0, Math.max(own.length - maxPerParticipant + 1, 0)))
      this.#links.delete(digest)
    const code = randomBytes(32).toString('base64url')
    const expiresAt = this.#clock.now() + linkMs
    this.#links.set(hashCode(code), { ...link, expiresAt })
    return { code, expiresAt }
  }

  /** Returns the token of a code, and invalidates the code. */
  take(code: string): OneTimeLink | undefined {
    this.#forget()
    const digest = hashCode(code)
    const link = this.#links.get(digest)
    this.#links.delete(digest)
    // Checks the code's own expiry: codes may expire in another order than they were made.
    return link !== undefined && link.expiresAt > this.#clock.now() ? link : undefined
  }

  #forget(): void {
    const now = this.#clock.now()
    for (const [digest, { expiresAt }] of this.#links) {
      if (expiresAt > now) break
      this.#links.delete(digest)
    }
  }
}

/** A code has 256 random bits, so the lookup time of its digest reveals nothing about other codes. */
const hashCode = (code: string): string => createHash('sha256').update(code).digest('base64')

/** Tests whether a text is a token of a space or of an open invitation. */
export function createTokenTester(
  authenticator: Authenticator,
  hosts: ReadonlyMap<string, SpaceHost>,
): (candidate: string) => boolean {
  return (candidate) => {
    if (authenticator.isToken?.(candidate)) return true
    let sha256: string | undefined
    for (const { space } of hosts.values()) {
      const { invitations } = space.state.trust
      if (invitations.size === 0) continue
      sha256 ??= hashToken(candidate)
      if (invitations.knows(sha256)) return true
    }
    return false
  }
}
