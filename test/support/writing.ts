import type { SpaceClient } from '@meup/agent-sdk'
import { type DialRequest, dialWs } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { onTestFinished } from 'vitest'

/** Milliseconds between two deltas, as an agent sends them. */
const everyMs = 25

export const words = Array.from({ length: 80 }, (_, at) => `word${at}${at % 20 === 19 ? '.\n\n' : ' '}`)

/** Pixels from the top of the window to a paragraph, by how it begins; and how far the stream is scrolled. */
export const placeOf = (text: string): string => `(() => {
  const found = [...document.querySelectorAll('.stream p')].find((each) => each.textContent.startsWith('${text}'))
  return [found?.getBoundingClientRect().top, document.querySelector('.scroller').scrollTop]
})()`

/** Writes answers in parts, over a connection of its own. */
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

/** When the gateway sent the first delta about this on, in milliseconds since the epoch. */
export const firstDelta = (space: SpaceClient, about: string): Promise<number> =>
  new Promise((resolve) => {
    space.on('envelope', ({ kind, correlationId, ts }) => {
      if (kind === Kind.chatDelta && correlationId === about) resolve(Date.parse(ts))
    })
  })
