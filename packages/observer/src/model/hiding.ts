import type { Hiding } from '@meup/protocol'

/** Whether all thoughts of a run are hidden, not its owner's alone [MEUP-9.6]. */
export const isAllHidden = ({ owner, hiddenBy = [] }: Hiding): boolean => hiddenBy.some((id) => id !== owner)

/** Whether the flag is set that this participant would move: the owner's is its own, that of all others is one. */
export const hasHidden = ({ owner, hiddenBy = [] }: Hiding, participant: string): boolean =>
  hiddenBy.some((id) => (id === owner) === (participant === owner))
