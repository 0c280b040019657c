import { isThought, Kind, namespaceOf } from './kinds.js'
import type { SubscribePayload } from './payloads/conversation.js'

/** How much reasoning is shown [MEUP-9.2]. */
export type Detail = NonNullable<SubscribePayload['reasoning']>

/** Whether an envelope is shown at this detail; what is not reasoning always is. */
export function isShown(
  detail: Detail,
  { kind, context }: { readonly kind: string; readonly context?: string },
): boolean {
  if (detail === 'full' || namespaceOf(kind) !== 'reasoning') return true
  return detail === 'boundaries' ? !isThought(kind) : kind === Kind.reasoningStart && context === undefined
}
