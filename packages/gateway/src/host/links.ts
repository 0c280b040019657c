import { createHash, randomBytes } from 'node:crypto'
import { hashToken } from '../core/state/trust/invitations.js'
import type { Authenticator } from '../ports/authenticator.js'
import type { Clock } from '../ports/clock.js'
import type { SpaceHost } from './space-host.js'

/** Milliseconds that a link is good for. */
const linkMs = 60_000
/** Links of one participant that nobody has opened; the oldest falls for one more. */
const maxPerParticipant = 8

/** What a one-time code stands for. */
export interface Link {
  readonly space: string
  readonly participant: string
  readonly token: string
}

/** One-time codes, each for a token, in memory alone [MEUP-11.13]. A code itself is not kept. */
export class Links {
  readonly #clock: Clock
  /** By the digest of the code; the oldest first. */
  readonly #links = new Map<string, Link & { readonly expiresAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `expiresAt`: milliseconds since the epoch. */
  make(link: Link): { readonly code: string; readonly expiresAt: number } {
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

  /** What the code stands for; from then on for nothing. */
  take(code: string): Link | undefined {
    this.#forget()
    const digest = hashCode(code)
    const link = this.#links.get(digest)
    this.#links.delete(digest)
    // Its own end counts, in whichever order they were made.
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

/** A code has 256 random bits: how long its digest is looked for tells nothing about another. */
const hashCode = (code: string): string => createHash('sha256').update(code).digest('base64')

/** Tells whether a text opens anything in this gateway: it is a token of a space, or of an open invitation to one. */
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
