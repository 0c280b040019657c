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

/** A log that is followed. */
export interface FollowedSpace extends Disposable {
  /** A transcript of the conversation so far, to continue from; questions and answers in it are not sent to the space. */
  transcript(options?: TranscriptOptions): Transcript
  /** Stops listening. */
  [Symbol.dispose](): void
}

/**
 * A transcript of a space: chats of `self` are the assistant's, those of others are named users'. It contains the reasoning;
 * `reasoning` selects what prompts include. Withheld, hidden and retracted texts are omitted.
 */
export function fromSpace(
  envelopes: Iterable<Envelope>,
  options: RecordedSpace & TranscriptOptions,
): Transcript {
  const fold = new SpaceFold(options)
  for (const envelope of envelopes) fold.apply(envelope)
  return new Transcript(fold.chain(), options)
}

/** Like `fromSpace`, for what this client receives from now on; including the past if it connected with `after: 0`. */
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

/** The reasoning in a prompt: none, own, all, or that of these contexts and below. */
export type ReasoningChoice = 'none' | 'own' | 'all' | readonly string[]

export interface RecordedSpace {
  /** The participant with the assistant's role. */
  readonly self: string
  /** Default: `none`. */
  readonly reasoning?: ReasoningChoice
  /** Characters of chats, and of reasoning, that are kept; default: 4 million each. */
  readonly capacity?: number
}

interface Thought {
  readonly source: Source
  readonly ts: string
  readonly text: string
  /** Its context; for a start, the one that it opens. */
  readonly context: string | undefined
}

/** The main conversation of a space, with reasoning, as far as this reader receives it. */
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

  /** The transcript so far, in log order. Selected reasoning is annotated, so that prompts include it. */
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

  /** In a hidden run, participants see only their own thoughts [MEUP-9.6]. */
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

/** Whether it contains reasoning as text; withheld reasoning has none [MEUP-6.6]. */
const hasReasoningText = ({ kind, payload }: Envelope): boolean =>
  (isThought(kind) || kind === Kind.reasoningStart || kind === Kind.reasoningConclusion) &&
  payloadText(payload).trim() !== ''

const toThought = (envelope: Envelope): Thought => ({
  source: getSource(envelope),
  ts: envelope.ts,
  text: payloadText(envelope.payload),
  context: envelope.kind === Kind.reasoningStart ? openedContext(envelope) : envelope.context,
})
