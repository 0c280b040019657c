import { dialWs, type Transport } from '@meup/agent-sdk/internal'
import type { FakeClock } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { type Step, type StoryLine, story } from './story-lines.js'

export interface Place {
  readonly url: string
  readonly space: string
  tokenOf(participant: string): string
}

/** Plays the story over real sockets, one second per line. Returns the seq of its last envelope. */
export async function notify(
  { url, space, tokenOf }: Place,
  clock: FakeClock,
  steps: readonly Step[] = story,
  /** Called after each step, and awaited. */
  settled: (said: StoryLine) => Promise<unknown> = async () => {},
): Promise<number> {
  const speakers = new Map<string, Awaited<ReturnType<typeof enter>>>()
  for (const id of new Set(steps.map(([from]) => from))) {
    speakers.set(id, await enter({ url, space, token: tokenOf(id) }))
  }
  let last = 0
  for (const [from, line] of steps) {
    clock.advance(1000)
    last = (await speakers.get(from)?.say(line)) ?? last
    await settled(line)
  }
  // Leave one after the other, so that the log has the same order each time.
  for (const speaker of speakers.values()) await speaker.leave()
  return last
}

/** Connects a participant. `say` resolves when the gateway has accepted or refused the envelope. */
async function enter(where: { url: string; space: string; token: string }) {
  const waiting = new Map<string, (seq: number | undefined) => void>()
  const message = (frame: string): void => {
    const { id, seq, kind, correlationId } = JSON.parse(frame) as Envelope
    const about = kind === 'system.error' ? String(correlationId) : id
    waiting.get(about)?.(seq)
    waiting.delete(about)
  }
  let left = (): void => {}
  const gone = new Promise<void>((resolve) => {
    left = resolve
  })
  const transport: Transport = await dialWs(where, { message, close: left })
  return {
    say: (line: StoryLine): Promise<number | undefined> =>
      new Promise((resolve) => {
        waiting.set(line.id, resolve)
        transport.send(JSON.stringify(line))
      }),
    leave: (): Promise<void> => {
      transport.close(1000, '')
      return gone
    },
  }
}
