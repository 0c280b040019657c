import { contextParent, type Envelope } from '@meup/protocol'
import type { ContextView } from './context-view.js'

/** Whether an envelope came after the end of its context, or of one around it [MEUP-2.7]. */
export function isLate(
  { context, seq = 0 }: Envelope,
  contextOf: (context: string) => ContextView | undefined,
): boolean {
  for (let at = context; at !== undefined; at = contextParent(at)) {
    const { state = 'free', ending } = contextOf(at) ?? {}
    if (state !== 'free' && ending && seq > ending.source.seq) return true
  }
  return false
}
