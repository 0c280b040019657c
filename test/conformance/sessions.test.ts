import { readFileSync } from 'node:fs'
import { testToken } from '@meup/gateway/testing'
import type { Envelope, WelcomePayload } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, type Client, errorFor, ofKind, said } from '../../packages/gateway/test/client.js'
import { type Running, start } from '../../packages/gateway/test/support.js'
import {
  type Bindings,
  filledIn,
  fits,
  type Opening,
  type Step,
  valueAt,
} from '../../protocol/test/sessions.js'
import { vectors } from '../../protocol/test/vectors.js'

/** Kinds of envelopes that a space also sends on its own. The frames that a test vector expects need not include them. */
const passedOver = new Set(['system.decision', 'system.presence', 'system.space'])

/** A connection of a session. `next`: index of the frame to compare next. */
interface Peer {
  readonly client: Client
  next: number
  highest: number
}

/** Plays the steps of a session with a gateway, over sockets. */
class Player {
  readonly #space: Running
  readonly #seats = new Map<string, Peer>()
  readonly #bindings: Bindings = new Map()

  constructor(space: Running) {
    this.#space = space
  }

  async play(step: Step): Promise<void> {
    const { on, open, refused, send, receive, close, closed } = step
    if (open !== undefined) return refused ? this.#connectRequest(on, open, refused) : this.#open(on, open)
    const { client } = this.#seat(on)
    if (send !== undefined) {
      client.send(typeof send === 'string' ? send : JSON.stringify(filledIn(send, this.#bindings)))
    }
    if (receive !== undefined) await this.#receive(step, receive)
    if (close) client.ws.close()
    if (close || closed !== undefined) {
      const { code } = await client.closed
      if (closed !== undefined) expect(code).toBe(closed)
    }
  }

  #seat(on: string): Peer {
    const seat = this.#seats.get(on)
    if (seat === undefined) throw new Error(`${on} was not opened`)
    return seat
  }

  async #open(on: string, opening: Opening): Promise<void> {
    const client = await this.#space.connect(participantOf(on), this.#dialled(opening))
    this.#seats.set(on, { client, next: 0, highest: 0 })
  }

  async #connectRequest(on: string, opening: Opening, refused: NonNullable<Step['refused']>): Promise<void> {
    const { status, body } = await this.#space.connectRequest({
      token: testToken(participantOf(on)),
      ...this.#dialled(opening),
    })
    expect({ status, code: body.code }).toEqual(refused)
  }

  /** Converts parameters to a request. Those that are neither in the path nor in a header go into the query. */
  #dialled(opening: Opening) {
    const { space, token, protocols, ...query } = filledIn(opening, this.#bindings) as Opening
    return {
      query: `${new URLSearchParams(query as Record<string, string>)}`,
      ...(space !== undefined && { space }),
      ...(token !== undefined && { token }),
      ...(protocols !== undefined && { protocols }),
    }
  }

  async #receive({ on, without = [], again }: Step, receive: NonNullable<Step['receive']>): Promise<void> {
    const seat = this.#seat(on)
    const frame = await this.#frame(seat, receive)
    if (!fits(receive, frame, this.#bindings)) {
      expect(frame).toMatchObject(filledIn(receive, this.#bindings) as object)
    }
    expect(without.filter((pointer) => valueAt(pointer, frame) !== undefined)).toEqual([])
    if (frame.seq === undefined) return
    if (!again) expect(frame.seq).toBeGreaterThan(seat.highest)
    seat.highest = Math.max(seat.highest, frame.seq)
  }

  /** Returns the next frame that has to be compared. Skips frames of `passedOver` kinds that do not match. */
  async #frame(seat: Peer, receive: NonNullable<Step['receive']>): Promise<Envelope> {
    for (;;) {
      await expect.poll(() => seat.client.frames.length, { interval: 1 }).toBeGreaterThan(seat.next)
      const frame = seat.client.frames[seat.next++]
      if (frame === undefined) continue
      if (!passedOver.has(frame.kind) || fits(receive, frame, new Map(this.#bindings))) return frame
    }
  }
}

const participantOf = (on: string): string => on.split('#')[0] ?? on

test.for(vectors('sessions'))('$title', async ({ input, expect: steps }) => {
  const space = await start(input as Parameters<typeof start>[0])
  const player = new Player(space)
  for (const [index, step] of steps.entries()) {
    await player.play(step).catch((cause: unknown) => {
      throw new Error(`step ${index}: ${JSON.stringify(step)}`, { cause })
    })
  }
})

describe('the session that the specification tells', () => {
  const spec = readFileSync(new URL('../../protocol/SPEC.md', import.meta.url), 'utf8')
  const received = spec.slice(spec.indexOf('## A session'), spec.indexOf('## States'))
  const frames = [...received.matchAll(/^```json (\w+) → (\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, from = '', to = '', text = '']) => ({ from, to, frame: JSON.parse(text) as Envelope }),
  )
  const capabilities = { ana: ['chat', 'mcp.request'], calc: ['mcp.response'] }

  test('happens as it is told', async () => {
    const space = await start({ name: 'demo', participants: capabilities, humans: ['ana'] })
    const calc = await space.connect('calc')
    let ana = await space.connect('ana')
    const { epoch } = ana.welcome.space
    for (const { from, to, frame } of frames) {
      if (from === 'calc') calc.send(frame)
      else if (from === 'ana') ana.send(frame)
      else expect(to).toBe('ana')
      if (from !== 'gateway') {
        const { id } = frame
        if (id === 'm2') await calc.next(byId(id))
        if (id !== 'm4') continue
        ana.ws.close()
        await ana.closed
        ana = await space.connect('ana', { query: `after=8&epoch=${epoch}` })
        expect(ana.welcome.resume).toMatchObject({ status: 'replaying', from: 9 })
        ana.send(frame)
      } else if (frame.kind === 'system.welcome') {
        const { you, space: place } = frame.payload as WelcomePayload
        expect(ana.welcome.you).toEqual(you)
        expect(ana.welcome.space.id).toBe(place.id)
        expect(ana.welcome.participants).toMatchObject(
          Object.entries(capabilities).map(([id, each]) => ({ id, capabilities: each, status: 'present' })),
        )
      } else {
        const isIt = frame.seq === undefined ? errorFor(frame.correlationId) : byId(frame.id)
        const { id, ts, ...known } = frame
        const got = await ana.next(isIt)
        expect(got).toMatchObject(known)
        expect(Object.keys(got)).toEqual(Object.keys(frame))
      }
    }
    const everything = await space.connect('calc', { query: 'after=0' })
    const seen = await everything
      .until(ofKind('chat'))
      .then(async (first) => [...first, ...(await everything.until(byId('m4')))])
    expect(said(seen)).toEqual(['m1', 'm2', 'c1', 'm4'])
  })
})
