import {
  Bounded,
  createContextFold,
  createTranscript,
  getSource,
  payloadText,
  type Source,
  type TranscriptMessage,
} from '@meup/folds'
import { type Envelope, isContextAncestor, isThought, Kind, openedContext } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import { Chain } from './chain.js'
import type { Content } from './content.js'
import { Transcript, type TranscriptOptions } from './transcript.js'

/** A space whose log is being followed. */
export interface FollowedSpace extends Disposable {
  /** A transcript of the conversation so far. It can be continued; its new questions and answers are not sent to the space. */
  transcript(options?: TranscriptOptions): Transcript
  /** Stops listening. */
  [Symbol.dispose](): void
}

/**
 * Creates a transcript of a log: chats of `self` get the role `assistant`, those of other participants are named users. It
 * contains all readable reasoning; `reasoning` selects what prompts include. Omits withheld, hidden and retracted texts.
 */
export function fromSpace(
  envelopes: Iterable<Envelope>,
  options: RecordedSpace & TranscriptOptions,
): Transcript {
  const fold = new SpaceFold(options)
  for (const envelope of envelopes) fold.apply(envelope)
  return new Transcript(fold.chain(), options)
}

/**
 * Like `fromSpace`, for envelopes that this client receives from now on. They include the past if it connected with `after: 0`.
 */
export function followSpace(space: BaseClient, view: Omit<RecordedSpace, 'self'> = {}): FollowedSpace {
  const begin = (): SpaceFold => new SpaceFold({ ...view, self: space.id })
  let fold = begin()
  const onEnvelope = (envelope: Envelope): void => fold.apply(envelope)
  const lost = (): void => {
    fold = begin()
  }
  space.on('envelope', onEnvelope).on('lost', lost)
  return {
    transcript: (options = {}) => new Transcript(fold.chain(), options),
    [Symbol.dispose]() {
      space.off('envelope', onEnvelope).off('lost', lost)
    },
  }
}

/** The reasoning that prompts include: none, that of `self`, all, or that in these contexts and those nested in them. */
export type ReasoningChoice = 'none' | 'own' | 'all' | readonly string[]

export interface RecordedSpace {
  /** The participant whose chats get the role `assistant`. */
  readonly self: string
  /** Default: `none`. */
  readonly reasoning?: ReasoningChoice
  /** Maximum characters of chats, and of reasoning, that are kept; default: 4 million each. */
  readonly capacity?: number
}

interface Thought {
  readonly source: Source
  readonly ts: string
  readonly text: string
  /** Context of the envelope; for the start of reasoning, the context that it opens. */
  readonly context: string | undefined
}

/** Collects chats outside of contexts (the main conversation), and reasoning, from the envelopes that a reader receives. */
class SpaceFold {
  readonly #view: RecordedSpace
  readonly #messages
  readonly #contexts = createContextFold()
  readonly #thoughts

  constructor(view: RecordedSpace) {
    const { capacity = 4e6 } = view
    this.#view = view
    this.#messages = createTranscript(capacity)
    this.#thoughts = new Bounded<Thought>(capacity, ({ text }) => 500 + text.length)
  }

  apply(envelope: Envelope): void {
    if (envelope.seq === undefined) return
    this.#messages.apply(envelope)
    this.#contexts.apply(envelope)
    if (hasReasoningText(envelope)) this.#thoughts.set(envelope.id, toThought(envelope))
  }

  /** The transcript so far, in log order. Chosen reasoning is annotated, so that prompts include it. */
  chain(): Chain {
    const messages = this.#messages.messages().filter(({ isTakenBack }) => !isTakenBack)
    const thoughts = [...this.#thoughts.values()].filter((each) => this.#isVisible(each))
    const chain = new Chain()
    for (const each of [...messages, ...thoughts].sort((a, b) => a.source.seq - b.source.seq)) {
      const isMessage = 'isTakenBack' in each
      const content = isMessage ? this.#said(each) : this.#thought(each)
      const { id, seq, kind } = each.source
      const context = isMessage || each.context === undefined ? {} : { context: each.context }
      const { hash } = chain.append(content, { metadata: { id, seq, kind, ts: each.ts, ...context } })
      if (!isMessage && this.#isChosen(each)) chain.annotate(hash, { priority: 'normal', reason: 'chosen' })
    }
    return chain
  }

  #said({ source: { from }, text }: TranscriptMessage): Content {
    return from === this.#view.self
      ? { content_type: 'assistant', text }
      : { content_type: 'user', text, from }
  }

  #thought({ source: { from }, text }: Thought): Content {
    return { content_type: 'reasoning', text, format: 'parsed', ...(from !== this.#view.self && { from }) }
  }

  /** Whether `self` may read a thought: in a hidden run, participants only see their own thoughts [MEUP-9.6]. */
  #isVisible({ source: { from, kind }, context }: Thought): boolean {
    if (context === undefined || from === this.#view.self || !isThought(kind)) return true
    return !this.#contexts.states.withholds(context, from)
  }

  #isChosen({ source, context }: Thought): boolean {
    const { self, reasoning = 'none' } = this.#view
    if (reasoning === 'own') return source.from === self
    if (typeof reasoning === 'string') return reasoning === 'all'
    return reasoning.some(
      (chosen) => context !== undefined && (context === chosen || isContextAncestor(chosen, context)),
    )
  }
}

/** Whether an envelope contains the text of reasoning; if it is withheld, there is none [MEUP-6.6]. */
const hasReasoningText = ({ kind, payload }: Envelope): boolean =>
  (isThought(kind) || kind === Kind.reasoningStart || kind === Kind.reasoningConclusion) &&
  payloadText(payload).trim() !== ''

const toThought = (envelope: Envelope): Thought => ({
  source: getSource(envelope),
  ts: envelope.ts,
  text: payloadText(envelope.payload),
  context: envelope.kind === Kind.reasoningStart ? openedContext(envelope) : envelope.context,
})
