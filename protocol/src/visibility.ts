import type { Envelope } from './envelope.js'
import { isThought, Kind, namespaceOf } from './kinds.js'
import type { SubscribePayload, VisibilityPayload } from './payloads.js'

/** The owner of a run, and the participants that hide it. */
export interface Hiding {
  /** Owner of the run; `null` for a path that envelopes name without a `reasoning.start` that opened it. */
  readonly owner: string | null
  readonly hiddenBy?: readonly string[]
}

/**
 * Returns the participants that hide a run after this `observe.visibility`; `undefined` = none. The owner has a flag of its
 * own; all other participants share one, which names the participant that set it last [MEUP-9.6].
 */
export function hiddenByAfter(
  { owner, hiddenBy = [] }: Hiding,
  { from, payload }: Pick<Envelope, 'from' | 'payload'>,
): string[] | undefined {
  const { reasoningVisible } = payload as Partial<VisibilityPayload>
  const others = hiddenBy.filter((id) => (id === owner) !== (from === owner))
  const all = reasoningVisible === false ? [...others, from] : others
  return all.length === 0 ? undefined : all
}

/** Whether the run withholds the thoughts of this participant from all others [MEUP-9.6]. */
export const withholds = ({ owner, hiddenBy = [] }: Hiding, from: string): boolean =>
  hiddenBy.some((id) => id !== owner || from === owner)

/** How much reasoning a connection gets [MEUP-9.2]. */
export type Detail = NonNullable<SubscribePayload['reasoning']>

/** Whether a connection with this detail gets an envelope. Envelopes other than reasoning are always sent. */
export function isShown(
  detail: Detail,
  { kind, context }: { readonly kind: string; readonly context?: string },
): boolean {
  if (detail === 'full' || namespaceOf(kind) !== 'reasoning') return true
  return detail !== 'none' ? !isThought(kind) : kind === Kind.reasoningStart && context === undefined
}
