import { contextRoot } from '../context.js'
import type { Envelope } from '../envelope.js'
import { Kind, namespaceOf } from '../kinds.js'
import { type Change, mapStrings } from './map-strings.js'
import type { RecentlySaid } from './recently-said.js'

/** The `rationale` of a tool call that gives none, or none that may be shown [MEUP-6.7]. */
export const FALLBACK_RATIONALE = 'Tool selected to satisfy the current subtask.'

export interface GuardFinding {
  readonly rule: string
  readonly action: string
}

/** What guards single texts; `Safety` of @meup/safety does. */
export interface TextGuard<Finding extends GuardFinding> {
  /** `before` stands right before the text: what is split over both is found, and changed in the text alone. */
  guard(
    text: string,
    before?: string,
  ): { readonly text: string; readonly isWithheld: boolean; readonly findings: readonly Finding[] }
}

/** An envelope as its sender means it; `from` as one word for the sender. */
export type Utterance = Pick<Envelope, 'id' | 'from' | 'kind' | 'context' | 'rationale' | 'payload'>

/** What the guard makes of an envelope; a part that is absent stays as it is. */
export interface GuardedParts<Finding extends GuardFinding> {
  readonly rationale?: string
  /** As JSON. */
  readonly payload?: string
  /** Each rule once, with each of its actions. */
  readonly findings: readonly Finding[]
  /** How many texts nobody may see. */
  readonly withheld: number
}

/** Whether an envelope has anything that is guarded [MEUP-6.1]. */
export const isGuarded = (envelope: Utterance): boolean =>
  envelope.rationale !== undefined || isToolCall(envelope) || guardedPart(envelope) !== undefined

/**
 * Guards what agents think aloud: every string of a `reasoning.*` payload, every `rationale`, and every string of
 * `metadata` elsewhere but in MCP [MEUP-6.1]. `json` is the payload; of it nothing changes but the strings that must.
 */
export function guardEnvelope<Finding extends GuardFinding>(
  envelope: Utterance,
  json: string,
  { safety, said }: { readonly safety: TextGuard<Finding>; readonly said: RecentlySaid },
): GuardedParts<Finding> {
  const run = runOf(envelope)
  const findings = new Map<string, Finding>()
  let withheld = 0

  const guard = (text: string, befores: readonly string[]): string | undefined => {
    let seen = text
    for (const before of befores) {
      const guarded = safety.guard(seen, before)
      for (const finding of guarded.findings) findings.set(`${finding.action} ${finding.rule}`, finding)
      if (guarded.isWithheld) {
        withheld++
        return undefined
      }
      seen = guarded.text
    }
    return seen
  }
  const hear = (text: string, place: string): string | undefined => {
    const voice = `${envelope.from} ${place.length > longestPlace ? '' : place}`
    const befores = [...said.before(run, voice), ...nameBefore(place)]
    said.add(run, voice, text)
    return guard(text, befores.length === 0 ? noBefore : befores)
  }

  const rationale = guardRationale(envelope, (text) => hear(text, 'rationale') ?? '')
  let isMessageWithheld = false
  const part = guardedPart(envelope)
  const change: Change = (text, place, isKey) => {
    if (vocabulary.has(text) || !isIn(part, place)) return text
    if (isKey) return guard(text, noBefore) ?? ''
    const seen = hear(text, place)
    if (seen === undefined && place === 'message') isMessageWithheld = true
    return seen ?? ''
  }
  const mapped = part === undefined ? json : mapStrings(json, change)
  const payload = isMessageWithheld ? markWithheld(mapped) : mapped
  return {
    ...(rationale !== undefined && rationale !== envelope.rationale && { rationale }),
    ...(payload !== json && { payload }),
    findings: [...findings.values()],
    withheld,
  }
}

const noBefore = ['']
/** Characters of a place by which a voice is still known. */
const longestPlace = 100
/** What the protocol itself says: there is nothing to be found in it. */
const vocabulary: ReadonlySet<string> = new Set([
  ...['', 'message', 'reason', 'references', 'metadata', 'format', 'plain', 'markdown'],
  ...['phase', 'thinking', 'plan', 'waiting_approval', 'execute', 'error'],
])

/** Which part of a payload is guarded: all of it (`''`), or one member. */
function guardedPart({ kind, payload }: Utterance): '' | 'metadata' | undefined {
  const namespace = namespaceOf(kind)
  if (namespace === 'reasoning') return ''
  return namespace === 'mcp' || payload.metadata === undefined ? undefined : 'metadata'
}

const isIn = (part: '' | 'metadata' | undefined, place: string): boolean =>
  part === '' || place === part || place.startsWith(`${part}/`)

const isToolCall = ({ kind, payload }: Utterance): boolean =>
  (kind === Kind.mcpRequest || kind === Kind.mcpProposal) && payload.method === 'tools/call'

function guardRationale(envelope: Utterance, guard: (text: string) => string): string | undefined {
  const { rationale } = envelope
  const seen = rationale === undefined ? undefined : guard(rationale)
  const isBlank = seen === undefined || seen.trim() === ''
  return isBlank && isToolCall(envelope) ? FALLBACK_RATIONALE : seen
}

/** What is thought or said next in the same run goes on from this. What belongs to no run goes by its sender. */
function runOf({ id, from, kind, context }: Utterance): string {
  if (context !== undefined) return contextRoot(context)
  return kind === Kind.reasoningStart ? id : ` ${from}`
}

/** Some secrets are told by what they are called: `password: …`. */
const nameBefore = (place: string): string[] =>
  unnamed.has(place) ? [] : [`${place.slice(place.lastIndexOf('/') + 1)}: `]

/** Places of prose, which their names do not explain. */
const unnamed: ReadonlySet<string> = new Set(['message', 'reason', 'rationale', 'references'])

/** The text alone says that there is none; this says why [MEUP-6.6]. */
function markWithheld(json: string): string {
  const payload = JSON.parse(json) as Record<string, unknown>
  const { metadata } = payload
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  return JSON.stringify({ ...payload, metadata: { ...(isObject && metadata), withheld: true } })
}
