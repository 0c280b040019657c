import type { Envelope } from '@meup/protocol'

/** A part of the state of a space: what the envelopes of its log, taken in order, add up to [MEUP-3.4]. */
export interface Fold {
  /** `body`: the envelope's bytes, for what the parsed envelope does not tell. */
  apply(envelope: Envelope, body: Uint8Array): void
  /** As JSON: equal states give equal texts. */
  snapshot(): unknown
  /** Takes what `snapshot` gave. Called at most once, on an empty fold. */
  restore(snapshot: never): void
}
