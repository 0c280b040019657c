import type { Message } from '@meup/folds'
import { defined } from '../client/defined.js'
import { frameMessage } from './frame-message.js'

/** How much of a conversation is remembered: the latest messages, as far as both allow. */
export interface MemoryBounds {
  /** Default 40. */
  readonly messages?: number
  /** Tokens of their texts, estimated: four characters are one, and each East Asian one. Default 20,000. */
  readonly tokens?: number
}

export const resolveBounds = (given: number | MemoryBounds = {}): Required<MemoryBounds> => ({
  messages: 40,
  tokens: 20_000,
  ...defined(typeof given === 'number' ? { messages: given } : given),
})

/** Characters of a token, roughly and for any model. */
export const charsPerToken = 4
/** Each of these is about a token of its own: East Asian scripts, and emoji. */
const wide = /[\u2E80-\uFFFF]/g

const estimateTokens = (text: string): number =>
  Math.ceil((text.length + (charsPerToken - 1) * (text.match(wide)?.length ?? 0)) / charsPerToken)

/** The latest messages, as far as the bounds allow. */
export function takeLatest(messages: readonly Message[], bounds: Required<MemoryBounds>): readonly Message[] {
  let [count, tokens] = [0, 0]
  for (const { text } of messages.toReversed()) {
    tokens += estimateTokens(text)
    if (count >= bounds.messages || tokens > bounds.tokens) break
    count++
  }
  return messages.slice(messages.length - count)
}

/** A message for a model, in the form of the `ai` package. What others said begins with their name, as `framingRule` says. */
export interface HistoryMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The messages before a turn, oldest first. */
export interface History {
  readonly messages: readonly HistoryMessage[]
  /** The same as one text; each message begins with the name of its sender, this participant's own too. */
  readonly text: string
}

/** `self`: the participant that reads, whose own messages are the assistant's. */
export const toHistoryMessages = (messages: readonly Message[], self: string): HistoryMessage[] =>
  messages.map(({ source: { from }, text }) =>
    from === self
      ? { role: 'assistant', content: text }
      : { role: 'user', content: frameMessage({ from, text }) },
  )

/** All speakers by their names. */
export const toText = (messages: readonly Message[]): string =>
  messages.map(({ source: { from }, text }) => frameMessage({ from, text })).join('\n')
