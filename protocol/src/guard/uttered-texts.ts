import type { Envelope } from '../envelope.js'
import { Kind, namespaceOf } from '../kinds.js'
import { mapStrings } from './map-strings.js'

/** An envelope as its sender means it. */
export type Utterance = Pick<Envelope, 'id' | 'from' | 'kind' | 'context' | 'rationale' | 'payload'>

/** A text that is guarded. */
export interface UtteredText {
  readonly text: string
  /** `rationale`, or where in the payload it stands, as `mapStrings` has it. */
  readonly place: string
  readonly isKey: boolean
}

/** Whether an envelope has anything that is guarded, or lacks the reason that it should have [MEUP-6.1, 6.7]. */
export const isGuarded = (envelope: Utterance): boolean =>
  envelope.rationale !== undefined || isToolCall(envelope) || isPayloadGuarded(envelope)

/** Whether its payload has. */
export const isPayloadGuarded = (envelope: Utterance): boolean => guardedPart(envelope) !== undefined

/** What should have a rationale [MEUP-6.7]. */
export const isToolCall = ({ kind, payload }: Utterance): boolean =>
  (kind === Kind.mcpRequest || kind === Kind.mcpProposal) && payload.method === 'tools/call'

/**
 * Every text that is guarded, in its order: the `rationale`, every string of a `reasoning.*` payload, and every string of
 * `metadata` elsewhere but in MCP. `json` is the payload.
 */
export function utteredTexts(envelope: Utterance, json: string): UtteredText[] {
  const texts: UtteredText[] = []
  const { rationale } = envelope
  if (rationale !== undefined && rationale !== '') {
    texts.push({ text: rationale, place: 'rationale', isKey: false })
  }
  rewritePayload(envelope, json, (each) => {
    texts.push(each)
    return each.text
  })
  return texts
}

/** Rewrites those of the payload. */
export function rewritePayload(
  envelope: Utterance,
  json: string,
  rewrite: (text: UtteredText) => string,
): string {
  const part = guardedPart(envelope)
  if (part === undefined) return json
  return mapStrings(json, (text, place, isKey) =>
    vocabulary.has(text) || !isIn(part, place) ? text : rewrite({ text, place, isKey }),
  )
}

/** Which part of a payload is guarded: all of it (`''`), or one member. */
function guardedPart({ kind, payload }: Utterance): '' | 'metadata' | undefined {
  const namespace = namespaceOf(kind)
  if (namespace === 'reasoning') return ''
  return namespace === 'mcp' || payload.metadata === undefined ? undefined : 'metadata'
}

const isIn = (part: '' | 'metadata', place: string): boolean =>
  part === '' || place === part || place.startsWith(`${part}/`)

/** Words of the protocol itself: there is nothing to be found in them. */
const vocabulary: ReadonlySet<string> = new Set([
  ...['', 'message', 'reason', 'references', 'metadata', 'format', 'plain', 'markdown'],
  ...['phase', 'thinking', 'plan', 'waiting_approval', 'execute', 'error'],
])

/** Places of prose, which their names do not explain. */
const unnamed: ReadonlySet<string> = new Set(['message', 'reason', 'rationale', 'references'])

/** Characters of a name, from its end: one name may stand before very many values. */
const longestName = 100

/** What a value is called, for those secrets that are told by it: `password: …`. Empty where that says nothing. */
export function labelOf({ place, isKey }: UtteredText): string {
  if (isKey || unnamed.has(place)) return ''
  const end = place.slice(-longestName)
  return `${end.slice(end.lastIndexOf('/') + 1)}: `
}
