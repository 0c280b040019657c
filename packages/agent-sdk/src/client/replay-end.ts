import type { WelcomePayload } from '@meup/protocol'

/** Tracks whether a connection is replaying, and when the replay ends [MEUP-13.6]. */
export class ReplayEnd {
  /** Last seq of the replay; 0 = none. */
  #to = 0

  get isReplaying(): boolean {
    return this.#to > 0
  }

  onWelcome({ resume: { status, from, to } }: WelcomePayload): void {
    this.#to = status === 'live' || to < from ? 0 : to
  }

  onEnvelope({ seq = 0 }: { readonly seq?: number | undefined }): void {
    if (seq >= this.#to) this.#to = 0
  }
}
