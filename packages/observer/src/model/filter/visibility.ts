import {
  contextParent,
  type Detail,
  type Envelope,
  type Hiding,
  isShown,
  Kind,
  namespaceOf,
  type SubscribePayload,
} from '@meup/protocol'

/** The envelopes that the gateway should filter out. */
export interface Cut {
  /** Amount of others' thoughts. */
  readonly detail: Detail
  /** Participants with messages and tool calls only. */
  readonly from: readonly string[]
  /** Contexts, including those below, with tool calls only. */
  readonly contexts: readonly string[]
}

export const nothingCut: Cut = { detail: 'full', from: [], contexts: [] }

export const isCutting = ({ detail, from, contexts }: Cut): boolean =>
  detail !== 'full' || from.length > 0 || contexts.length > 0

/** The subscription for this filter [MEUP-9.1]. */
export const toSubscribePayload = ({ detail, from, contexts }: Cut): SubscribePayload => ({
  reasoning: detail,
  ...(from.length > 0 && { from: from.map((id) => `!${id}`) }),
  ...(contexts.length > 0 && { excludeContexts: [...contexts] }),
})

/** Namespaces that no subscription filters out [MEUP-8.3]. */
const uncut: ReadonlySet<string> = new Set(['mcp', 'system', 'capability', 'space', 'participant'])

/** Whether the gateway filters this envelope out for the reader `me`. */
export function isCutAway(envelope: Envelope, { detail, from, contexts }: Cut, me: string): boolean {
  const { kind, context, to } = envelope
  if (uncut.has(namespaceOf(kind)) || envelope.from === me || to?.includes(me)) return false
  if (kind === Kind.chat && context === undefined) return false
  if (!isShown(detail, envelope) || from.includes(envelope.from)) return true
  for (let at = context; at !== undefined; at = contextParent(at)) if (contexts.includes(at)) return true
  return false
}

export const toggled = (list: readonly string[], item: string): readonly string[] =>
  list.includes(item) ? list.filter((each) => each !== item) : [...list, item]

/** Whether all thoughts of a run are hidden, not only its owner's [MEUP-9.6]. */
export const isAllHidden = ({ owner, hiddenBy = [] }: Hiding): boolean => hiddenBy.some((id) => id !== owner)

/** Whether this participant's flag is set: the owner has its own, all others share one. */
export const hasHidden = ({ owner, hiddenBy = [] }: Hiding, participant: string): boolean =>
  hiddenBy.some((id) => (id === owner) === (participant === owner))
