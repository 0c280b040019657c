// The remembered conversation before a turn: its limits, and its forms for models.

import type { TranscriptMessage } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import { frameMessage } from './frame-message.js'

/** Limits of the remembered conversation. The latest messages within both limits are kept. */
export interface MemoryBounds {
  /** Maximum messages; default 40. */
  readonly messages?: number
  /** Maximum estimated tokens of the texts: one per four characters, or per East Asian character. Default 20,000. */
  readonly tokens?: number
}

export const resolveBounds = (given: number | MemoryBounds = {}): Required<MemoryBounds> => ({
  messages: 40,
  tokens: 20_000,
  ...omitUndefined(typeof given === 'number' ? { messages: given } : given),
})

/** Approximate characters per token, for any model. */
export const charsPerToken = 4
/** Characters of about one token each: East Asian scripts and emoji. */
const wide = /[\u2E80-\uFFFF]/g

const estimateTokens = (text: string): number =>
  Math.ceil((text.length + (charsPerToken - 1) * (text.match(wide)?.length ?? 0)) / charsPerToken)

/** Returns the latest messages within the bounds. */
export function takeLatest(
  messages: readonly TranscriptMessage[],
  bounds: Required<MemoryBounds>,
): readonly TranscriptMessage[] {
  let [count, tokens] = [0, 0]
  for (const { text } of messages.toReversed()) {
    tokens += estimateTokens(text)
    if (count >= bounds.messages || tokens > bounds.tokens) break
    count++
  }
  return messages.slice(messages.length - count)
}

/**
 * A message in the form of the `ai` package. A message of another participant begins with the sender's name, as in `ana:
 * Hello`.
 */
export interface HistoryMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The messages before a turn, oldest first. */
export interface History {
  readonly messages: readonly HistoryMessage[]
  /** The messages as one text. Each begins with its sender, even if that is this participant. */
  readonly text: string
}

/** `self`: the participant whose own messages get the role `assistant`. */
export const toHistoryMessages = (messages: readonly TranscriptMessage[], self: string): HistoryMessage[] =>
  messages.map(({ source: { from }, text }) =>
    from === self
      ? { role: 'assistant', content: text }
      : { role: 'user', content: frameMessage({ from, text }) },
  )

/** Formats messages as one text, each with its sender. */
export const toText = (messages: readonly TranscriptMessage[]): string =>
  messages.map(({ source: { from }, text }) => frameMessage({ from, text })).join('\n')
