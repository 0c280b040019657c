import { contextRoot, type Envelope, Kind, namespaceOf } from '@meup/protocol'
import { Register, type RegisterSnapshot } from '../bounded.js'
import { isNotification } from '../mcp/calls.js'
import { getStopWords, stoppedText } from '../mcp/program-ended.js'
import { payloadText } from '../payload-text.js'
import { getSource, type Quoted } from '../source.js'
import { isObject, isWithheld } from '../text.js'
import type { ContextView, Counts } from './context-view.js'

export type DraftsSnapshot = RegisterSnapshot<AnswerDraft>

/** Stores the views of contexts, and tracks those that the current envelope changed. */
export class Drafts {
  readonly #drafts = new Register({ isOpen, weigh, capacity: { open: 32e6, over: 8e6 } })
  readonly #changed = new Map<string, AnswerDraft>()

  get(context: string): AnswerDraft | undefined {
    return this.#changed.get(context) ?? this.#drafts.get(context)
  }

  values(): Iterable<AnswerDraft> {
    return this.#drafts.values()
  }

  /** Marks a context as changed. A new one counts as a free path, a context without owner and end, until a start opens it. */
  touch(context: string, ts: string, seq: number): AnswerDraft {
    const draft = this.get(context) ?? createAnswerDraft(context, ts, seq)
    this.#changed.set(context, draft)
    return draft
  }

  put(draft: AnswerDraft): void {
    this.#changed.set(draft.context, draft)
  }

  /** Sets the participants that hide a run, in the views of the run and its nested contexts. */
  hide(root: string, hiddenBy: readonly string[]): void {
    for (const draft of this.#drafts.values()) {
      if (contextRoot(draft.context) !== root) continue
      if (draft.hiddenBy.length + hiddenBy.length === 0) continue
      hide(draft, hiddenBy)
      this.put(draft)
    }
  }

  /** Sets the time from which the gateway cancels the open contexts of an absent owner; `null` = the owner is present. */
  expect(owner: string, expiresAt: string | null): void {
    for (const draft of this.#drafts.values()) {
      if (draft.owner !== owner || draft.state !== 'open' || draft.expiresAt === expiresAt) continue
      draft.expiresAt = expiresAt
      this.put(draft)
    }
  }

  /** Stores the contexts that were changed since the last call, and returns them. */
  flush(): AnswerDraft[] {
    const changed = [...this.#changed.values()]
    this.#changed.clear()
    for (const draft of changed) this.#drafts.set(draft.context, draft)
    return changed
  }

  snapshot(): DraftsSnapshot {
    return this.#drafts.snapshot()
  }

  restore(snapshot: DraftsSnapshot): void {
    this.#drafts.restore(snapshot)
  }
}

const isOpen = ({ state }: AnswerDraft): boolean => state === 'open'

const weigh = ({ weight, contributors, proposals }: AnswerDraft): number =>
  weight + 20 * (contributors.length + proposals.length)

/** A `ContextView` that the fold may still change. */
export type AnswerDraft = {
  -readonly [Key in Exclude<keyof ContextView, 'contributors' | 'counts' | 'proposals'>]: ContextView[Key]
} & {
  readonly contributors: string[]
  readonly counts: { -readonly [Key in keyof Counts]: number }
  readonly proposals: string[]
  /** Approximate size of the context in memory, in characters. */
  weight: number
}

export const createAnswerDraft = (context: string, startedAt: string, firstSeq: number): AnswerDraft => ({
  context,
  state: 'free',
  owner: null,
  opening: null,
  ending: null,
  reasoningVisible: true,
  hiddenBy: [],
  metadata: null,
  references: [],
  contributors: [],
  counts: { envelopes: 0, thoughts: 0, calls: 0, late: 0 },
  answer: null,
  proposals: [],
  startedAt,
  firstSeq,
  endedAt: null,
  expiresAt: null,
  duration: null,
  weight: 500,
})

/** Maximum entries of the lists of one context. */
const maxEntries = { contributors: 1000, references: 100, proposals: 100 }
const boundaries: ReadonlySet<string> = new Set([
  Kind.reasoningStart,
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
])

/** Counts an envelope that was sent in a context or its nested contexts. */
export function addToCounts(
  { counts, contributors }: AnswerDraft,
  { kind, from, payload }: Envelope,
  isLate: boolean,
): void {
  counts.envelopes++
  if (namespaceOf(kind) === 'reasoning' && !boundaries.has(kind)) counts.thoughts++
  if (kind === Kind.mcpRequest && !isNotification(payload)) counts.calls++
  if (isLate) counts.late++
  if (!contributors.includes(from) && contributors.length < maxEntries.contributors) contributors.push(from)
}

export function begin(draft: AnswerDraft, start: Envelope, isKnown: (id: string) => boolean): void {
  const { metadata, references } = start.payload
  draft.state = 'open'
  draft.owner = start.from
  draft.opening = quote(start, payloadText(start.payload))
  draft.metadata = isObject(metadata) ? metadata : null
  draft.references = idsIn(references).map((id) => ({ id, isResolved: isKnown(id) }))
  draft.weight += JSON.stringify(start.payload).length
  if (!draft.contributors.includes(start.from)) draft.contributors.unshift(start.from)
}

export function hide(draft: AnswerDraft, hiddenBy: readonly string[]): void {
  draft.hiddenBy = hiddenBy
  draft.reasoningVisible = hiddenBy.length === 0
}

export function end(draft: AnswerDraft, state: 'concluded' | 'cancelled', envelope: Envelope): void {
  const { reason } = envelope.payload
  const said = typeof reason === 'string' ? reason : payloadText(envelope.payload)
  const words = getStopWords(envelope)
  const text = words === undefined ? said : stoppedText(draft.owner ?? '', words)
  draft.state = state
  draft.ending = quote(envelope, text)
  draft.endedAt = envelope.ts
  draft.expiresAt = null
  draft.duration = Date.parse(envelope.ts) - Date.parse(draft.startedAt)
  draft.weight += text.length
}

/**
 * Starts and conclusions in a free path (a context that no run has opened) do not open or end it, but their texts are shown.
 */
export function quoteFree(draft: AnswerDraft, envelope: Envelope): void {
  if (draft.state !== 'free') return
  if (envelope.kind === Kind.reasoningStart) draft.opening ??= quote(envelope, payloadText(envelope.payload))
  if (envelope.kind === Kind.reasoningConclusion)
    draft.ending = quote(envelope, payloadText(envelope.payload))
}

/** Adds the id of a proposal; returns `false` if it is already listed. */
export function propose({ proposals }: AnswerDraft, proposal: string): boolean {
  if (proposals.includes(proposal)) return false
  proposals.push(proposal)
  if (proposals.length > maxEntries.proposals) proposals.shift()
  return true
}

const quote = (envelope: Envelope, text: string): Quoted => ({
  source: getSource(envelope),
  text: isWithheld(envelope.payload) ? null : text,
})

const idsIn = (references: unknown): string[] =>
  Array.isArray(references)
    ? references.filter((id) => typeof id === 'string').slice(0, maxEntries.references)
    : []
