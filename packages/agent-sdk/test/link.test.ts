import { type Dial, type DialRequest, SpaceClient } from '@meup/agent-sdk/internal'
import { type AnyEnvelope, closeCodes, defaultLimits, ProtocolError } from '@meup/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import {
  accepted,
  fromGateway,
  makeWelcome,
  type ScriptedLine,
  scriptedDial,
} from './support/scripted-line.js'

const request: DialRequest = { url: 'memory:', space: 'test' }

/** Waits between reconnect attempts are random, so this makes them 0. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

/** A connected client; the test acts as its gateway. */
async function seated(line = scriptedDial()) {
  const [seat, first] = await Promise.all([
    SpaceClient.open(line.dial, request),
    line.next().then((opened) => {
      opened.welcome()
      return opened
    }),
  ])
  return { ...line, seat, first }
}

const said = (seq: number, id = `said-${seq}`) =>
  accepted('other', { id, kind: 'chat', payload: { message: id } }, seq)

const ids = (line: ScriptedLine): string[] => line.sent.map(({ id }) => id)

const event = (seat: SpaceClient, name: 'closed' | 'reconnecting' | 'lost' | 'welcome'): Promise<unknown[]> =>
  new Promise((resolve) => seat.once(name, (...values: unknown[]) => resolve(values)))

describe('a line that comes back', () => {
  test('asks for what follows the last envelope it was shown', async () => {
    const { seat, first, next } = await seated()
    expect(first.request).toEqual(request)
    const seen: (number | undefined)[] = []
    seat.on('envelope', ({ seq }) => void seen.push(seq))
    const heard = new Promise((resolve) => seat.once('envelope', resolve))
    first.deliver(said(1))
    await heard
    first.deliver(said(2), said(5))
    const reconnecting = event(seat, 'reconnecting')
    first.close(1006)
    expect(await reconnecting).toEqual([0, 'the connection was lost (1006)'])
    const second = await next()
    expect(second.request).toEqual({ ...request, after: 5, epoch: 'epoch-1' })
    second.welcome({ resume: { status: 'replaying', from: 6, to: 7 } })
    second.deliver(said(6), said(7))
    expect(seen).toEqual([1, 2, 5, 6, 7])
    seat.close()
  })

  test('resumes from the head it was told of when nothing came since', async () => {
    const line = scriptedDial()
    const opening = SpaceClient.open(line.dial, request)
    const first = await line.next()
    first.welcome({ resume: { status: 'live', from: 42, to: 41 } })
    const seat = await opening
    first.close(closeCodes.draining)
    expect((await line.next()).request).toMatchObject({ after: 41 })
    seat.close()
  })

  test('sends again what was not acknowledged, in order, before anything newer', async () => {
    const { seat, first, next } = await seated()
    const done = ['a', 'b', 'c'].map((id) => seat.send({ id, kind: 'chat', payload: { message: id } }))
    expect(ids(first)).toEqual(['a', 'b', 'c'])
    const [a, b, c] = first.sent
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were sent')
    first.accept(a, 1)
    expect(await done[0]).toMatchObject({ id: 'a', seq: 1 })
    first.close(1006)
    done.push(seat.send({ id: 'd', kind: 'chat', payload: { message: 'd' } }))
    const second = await next()
    done.push(seat.send({ id: 'e', kind: 'chat', payload: { message: 'e' } }))
    expect(ids(second)).toEqual([])
    second.welcome()
    done.push(seat.send({ id: 'f', kind: 'chat', payload: { message: 'f' } }))
    expect(ids(second)).toEqual(['b', 'c', 'd', 'e', 'f'])
    for (const [index, sent] of second.sent.entries()) second.accept(sent, index + 2)
    expect((await Promise.all(done)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    seat.close()
  })

  test('what a new gateway has no room for is refused here, instead of being sent again for ever', async () => {
    const { seat, first, next } = await seated()
    const large = seat.send({ id: 'large', kind: 'chat', payload: { message: 'x'.repeat(500) } })
    const result = { kind: 'mcp.response', correlationId: 'asked', payload: { result: 'x'.repeat(500) } }
    void seat.send({ id: 'result', ...result }).catch(() => {})
    const refused = expect(large).rejects.toMatchObject({ name: 'ProtocolError', code: 'payload_too_large' })
    first.close(1009)
    const second = await next()
    second.welcome({ limits: { ...defaultLimits, maxEnvelopeBytes: 400, maxResultBytes: 1000 } })
    await refused
    expect(ids(second)).toEqual(['result'])
    seat.close()
  })

  test('shows an envelope once, however often it comes', async () => {
    const { seat, first, next } = await seated()
    const seen: string[] = []
    seat.on('envelope', ({ id }) => void seen.push(id))
    const sending = seat.send({ id: 'mine', kind: 'chat', payload: { message: 'hello' } })
    first.close(1006)
    const second = await next()
    second.welcome({ resume: { status: 'replaying', from: 1, to: 2 } })
    const [mine] = second.sent
    if (mine === undefined) throw new Error('it was not sent again')
    second.deliver(accepted('me', mine, 1), said(2), accepted('me', mine, 1))
    expect(await sending).toMatchObject({ seq: 1 })
    expect(seen).toEqual(['mine', 'said-2'])
    seat.close()
  })

  test('says when the log it followed is gone, and begins at the oldest envelope', async () => {
    const { seat, first, next } = await seated()
    first.deliver(said(9))
    first.close(1006)
    const second = await next()
    const lost = event(seat, 'lost')
    const seen: (number | undefined)[] = []
    seat.on('envelope', ({ seq }) => void seen.push(seq))
    const space = { id: 'test', epoch: 'epoch-2', head: 2 }
    second.welcome({ space, resume: { status: 'lost', from: 1, to: 2 } })
    second.deliver(said(1, 'new-1'), said(2, 'new-2'))
    expect(await lost).toEqual([expect.objectContaining({ space })])
    expect(seen).toEqual([1, 2])
    second.close(1006)
    expect((await next()).request).toMatchObject({ after: 2, epoch: 'epoch-2' })
    seat.close()
  })

  test.each([1001, 1006, 1009, 1011, 4408, 4410, 4429])('comes back after close code %i', async (code) => {
    const { seat, first, next } = await seated()
    first.close(code)
    ;(await next()).welcome()
    seat.close()
  })

  test('goes on trying while the gateway says that it may work later', async () => {
    const { seat, first, next, refuse } = await seated()
    refuse(new ProtocolError('unavailable', 'the gateway is stopping'))
    first.close(closeCodes.draining)
    const tries: unknown[] = []
    await new Promise<void>((resolve) => {
      seat.on('reconnecting', (_, reason) => {
        tries.push(reason)
        if (tries.length === 3) resolve()
      })
    })
    refuse(undefined)
    ;(await next()).welcome()
    expect(tries.slice(1)).toEqual(['the gateway is stopping', 'the gateway is stopping'])
    seat.close()
  })
})

test('guests that have left are forgotten, others are away', async () => {
  const { seat, first } = await seated()
  const presence = (event: string, id: string, seq: number) =>
    accepted(
      'system:gateway',
      { id: `p${seq}`, kind: 'system.presence', payload: { event, participant: { id } } },
      seq,
    )
  first.deliver(presence('join', 'guest-1', 1), presence('join', 'ana', 2))
  await eventually(() => expect(seat.participants).toHaveLength(3))
  first.deliver(presence('leave', 'guest-1', 3), presence('leave', 'ana', 4))
  expect(seat.participants.map(({ id, status }) => `${id} ${status}`)).toEqual(['me present', 'ana away'])
  seat.close()
})

describe('the end of a line', () => {
  test.each([
    [4400, 'invalid_request'],
    [4401, 'unauthorized'],
    [4403, 'forbidden'],
    [4404, 'not_found'],
  ] as const)('close code %i ends it for good: %s', async (code, refusal) => {
    const { seat, first, lines } = await seated()
    const sending = seat.send({ kind: 'chat', payload: { message: 'too late' } })
    const closed = event(seat, 'closed')
    first.close(code, 'go away')
    const error = new ProtocolError(refusal, `go away (${code})`)
    await expect(sending).rejects.toEqual(error)
    expect(await closed).toEqual([error])
    await expect(seat.send({ kind: 'chat', payload: { message: 'later' } })).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'closed',
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(lines).toHaveLength(1)
  })

  test('a refusal that stands ends it for good', async () => {
    const { seat, first, refuse } = await seated()
    const refusal = new ProtocolError('unauthorized', 'the token opens nothing')
    refuse(refusal)
    const sending = seat.send({ kind: 'chat', payload: { message: 'lost' } })
    const closed = event(seat, 'closed')
    first.close(1006)
    await expect(sending).rejects.toBe(refusal)
    expect(await closed).toEqual([refusal])
  })

  test('closing it while it is being opened again leaves no line behind', async () => {
    const scripted = scriptedDial()
    const [dialling, go] = [deferred(), deferred()]
    const dial: Dial = async (where, events) => {
      if (scripted.lines.length === 1) {
        dialling.resolve()
        await go.promise
      }
      return scripted.dial(where, events)
    }
    const { seat, first, next } = await seated({ ...scripted, dial })
    first.close(1006)
    await dialling.promise
    seat.close()
    go.resolve()
    const second = await next()
    expect(second.closed).toBe(1000)
    second.welcome()
    second.close(1000)
  })

  test('nothing is heard after it', async () => {
    const { seat, first } = await seated()
    const seen: AnyEnvelope[] = []
    seat.on('envelope', (envelope) => void seen.push(envelope))
    const started: unknown[] = []
    seat.tool('late', {}, () => void started.push('the tool ran'))
    first.deliver(said(1))
    await eventually(() => expect(seen.splice(0)).toHaveLength(1))
    seat.close()
    const call = {
      kind: 'mcp.request',
      to: ['me'],
      payload: { method: 'tools/call', params: { name: 'late' } },
    }
    first.deliver(said(2), accepted('other', { id: 'call', ...call }, 3))
    await Promise.resolve()
    expect([seen, started]).toEqual([[], []])
  })
})

describe('sending', () => {
  test('refuses what is over the queue, and does not send it', async () => {
    const { seat, first } = await seated()
    const waiting = Array.from({ length: 10_000 }, () =>
      seat.send({ kind: 'chat', payload: { message: '' } }),
    )
    const settled = Promise.allSettled(waiting)
    await expect(seat.send({ kind: 'chat', payload: { message: 'one more' } })).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'queue_full',
      details: { limit: 10_000 },
    })
    expect(first.sent).toHaveLength(10_000)
    const [oldest] = first.sent
    if (oldest === undefined) throw new Error('nothing was sent')
    first.accept(oldest, 1)
    await waiting[0]
    const again = seat.send({ kind: 'chat', payload: { message: 'room again' } })
    expect(first.sent).toHaveLength(10_001)
    seat.close()
    await expect(again).rejects.toMatchObject({ code: 'closed' })
    await settled
  })

  test('the same again while it is on its way is the same; another content is refused here', async () => {
    const { seat, first } = await seated()
    const draft = { id: 'once', kind: 'chat', payload: { message: 'a' } }
    const both = [seat.send(draft), seat.send(draft)]
    await expect(seat.send({ ...draft, payload: { message: 'b' } })).rejects.toThrow(/once/)
    expect(ids(first)).toEqual(['once'])
    const [sent] = first.sent
    if (sent === undefined) throw new Error('nothing was sent')
    first.accept(sent, 1)
    expect(await Promise.all(both)).toMatchObject([{ seq: 1 }, { seq: 1 }])
    seat.close()
  })

  test('an error that answers nothing that is awaited is shown', async () => {
    const { seat, first } = await seated()
    const shown = new Promise((resolve) => seat.once('envelope', resolve))
    first.deliver(fromGateway('system.error', { code: 'invalid_json', message: 'what was that?' }))
    expect(await shown).toMatchObject({ kind: 'system.error', payload: { code: 'invalid_json' } })
    seat.close()
  })
})

describe('what comes with the welcome', () => {
  test('waits until whoever opened the line can listen', async () => {
    const line = scriptedDial()
    const opening = SpaceClient.open(line.dial, request)
    const first = await line.next()
    first.deliver(fromGateway('system.welcome', makeWelcome('me')), said(1), said(2))
    const seat = await opening
    const seen: unknown[] = []
    seat.on('envelope', ({ id }) => void seen.push(id))
    first.deliver(said(3))
    await eventually(() => expect(seen).toHaveLength(3))
    expect(seen).toEqual(['said-1', 'said-2', 'said-3'])
    seat.close()
  })
})
