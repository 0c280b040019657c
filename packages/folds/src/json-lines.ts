import type { Envelope } from '@meup/protocol'

/** Envelopes as they are logged, one to a line; ends in a line break. */
export const jsonLines = (envelopes: Iterable<Envelope>): string =>
  [...envelopes].map((envelope) => `${JSON.stringify(envelope)}\n`).join('')
