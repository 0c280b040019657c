import type { Envelope } from './envelope.js'
import { isThought, Kind, namespaceOf } from './kinds.js'
import type { SubscribePayload, VisibilityPayload } from './payloads.js'

/** Whose run it is, and who hides it. */
export interface Hiding {
  /** `null`: nobody has opened it. */
  readonly owner: string | null
  readonly hiddenBy?: readonly string[]
}

/**
 * Who hides a run once this `observe.visibility` is in the log; `undefined` = nobody. The owner has a flag of its own, all
 * others share one, which names the one who set it last [MEUP-9.6].
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

/** Whether the run withholds what this participant thinks in it from everybody else [MEUP-9.6]. */
export const withholds = ({ owner, hiddenBy = [] }: Hiding, from: string): boolean =>
  hiddenBy.some((id) => id !== owner || from === owner)

/** How much reasoning is shown [MEUP-9.2]. */
export type Detail = NonNullable<SubscribePayload['reasoning']>

/** Whether an envelope is shown at this detail; what is not reasoning always is. */
export function isShown(
  detail: Detail,
  { kind, context }: { readonly kind: string; readonly context?: string },
): boolean {
  if (detail === 'full' || namespaceOf(kind) !== 'reasoning') return true
  return detail !== 'none' ? !isThought(kind) : kind === Kind.reasoningStart && context === undefined
}
