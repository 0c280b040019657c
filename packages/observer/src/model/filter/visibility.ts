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

/** Part of the log that the gateway should not send to this reader, as the reader has chosen. */
export interface Cut {
  /** How much reasoning of others is sent. */
  readonly detail: Detail
  /** Participants of whom only messages and tool calls are sent. */
  readonly from: readonly string[]
  /** Contexts of which only tool calls are sent, including nested contexts. */
  readonly contexts: readonly string[]
}

export const nothingCut: Cut = { detail: 'full', from: [], contexts: [] }

export const isCutting = ({ detail, from, contexts }: Cut): boolean =>
  detail !== 'full' || from.length > 0 || contexts.length > 0

/** Converts the filter to a subscription [MEUP-9.1]. */
export const toSubscribePayload = ({ detail, from, contexts }: Cut): SubscribePayload => ({
  reasoning: detail,
  ...(from.length > 0 && { from: from.map((id) => `!${id}`) }),
  ...(contexts.length > 0 && { excludeContexts: [...contexts] }),
})

/** Namespaces that subscriptions cannot exclude [MEUP-8.3]. */
const uncut: ReadonlySet<string> = new Set(['mcp', 'system', 'capability', 'space', 'participant'])

/** Whether the gateway does not send this envelope to the reader `me` because of the filter. */
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

/** Whether all thoughts of a run are hidden, because someone other than its owner has hidden them [MEUP-9.6]. */
export const isAllHidden = ({ owner, hiddenBy = [] }: Hiding): boolean => hiddenBy.some((id) => id !== owner)

/**
 * Whether this participant has hidden thoughts of the run. The owner hides only its own; hiding by anyone else hides all, and
 * counts as a choice of every participant but the owner.
 */
export const hasHidden = ({ owner, hiddenBy = [] }: Hiding, participant: string): boolean =>
  hiddenBy.some((id) => (id === owner) === (participant === owner))
