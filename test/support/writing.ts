import type { SpaceClient } from '@meup/agent-sdk'
import { type DialRequest, dialWs } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { onTestFinished } from 'vitest'

/** Milliseconds between two deltas, as agents send them. */
const everyMs = 25

export const words = Array.from({ length: 80 }, (_, at) => `word${at}${at % 20 === 19 ? '.\n\n' : ' '}`)

/**
 * Code in the page that measures the distance of a paragraph from the top of the window, by its first words, and the scroll
 * position of the conversation, in pixels.
 */
export const placeOf = (text: string): string => `(() => {
  const found = [...document.querySelectorAll('.stream p')].find((each) => each.textContent.startsWith('${text}'))
  return [found?.getBoundingClientRect().top, document.querySelector('.scroller').scrollTop]
})()`

/** Opens a connection for an agent that writes answers in deltas. */
export async function writeAnswers(request: DialRequest) {
  const line = await dialWs(request, { message: () => {}, close: () => {} })
  onTestFinished(() => line.close(1000, ''))
  const send = (id: string, kind: string, correlationId: string, payload: object): void =>
    line.send(JSON.stringify({ id, kind, correlationId, payload }))
  let deltas = 0
  const delta = (about: string, index: number, text: string): void =>
    send(`delta-${++deltas}`, Kind.chatDelta, about, { index, text })
  return {
    delta,
    async write(about: string, texts: readonly string[], from = 0): Promise<void> {
      for (const [at, text] of texts.entries()) {
        delta(about, from + at, text)
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
    },
    answer: (about: string, message: string): void =>
      send(`answer-to-${about}`, Kind.chat, about, { message, format: 'markdown' }),
  }
}

/** Waits for the first delta about a question. Returns its time by the gateway's clock, in milliseconds since the epoch. */
export const firstDelta = (space: SpaceClient, about: string): Promise<number> =>
  new Promise((resolve) => {
    space.on('envelope', ({ kind, correlationId, ts }) => {
      if (kind === Kind.chatDelta && correlationId === about) resolve(Date.parse(ts))
    })
  })
