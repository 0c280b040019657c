import type { Look } from './folded-turns.js'

/** Told of what was looked at, whether or not it is shown, in characters: it has to be paid for as well [MEUP-7.8]. */
export type Passed = (characters: number) => void

/** Characters for a step that is not shown. */
export const charactersOfStep = 128

const cost = { turn: 512, envelope: 64, byte: 1 / 8 }

/** Characters for a look at a turn: for each byte as much as for one that is read of the log. */
export const charactersOf = ({ envelopes, bytes }: Pick<Look, 'envelopes' | 'bytes'>): number =>
  cost.turn + cost.envelope * envelopes + cost.byte * bytes
