import { SpaceClient } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually } from './support/eventually.js'
import { accepted, scriptedDial } from './support/scripted-line.js'

/** Waits between reconnect attempts are random, so this makes them 0. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

/** A participant with a tool, and the ids of the calls that ran it. */
async function serving(query: { after?: number } = {}) {
  const line = scriptedDial('tools')
  const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test', ...query })
  const first = await line.next()
  const done: string[] = []
  return {
    ...line,
    first,
    done,
    seat: async () => {
      const seat = await opening
      seat.tool('act', {}, (_, { request }) => {
        done.push(request.id)
        return 'done'
      })
      return seat
    },
  }
}

const request = (id: string, seq: number, from = 'ana') =>
  accepted(
    from,
    {
      id,
      kind: Kind.mcpRequest,
      to: ['tools'],
      payload: { id, method: 'tools/call', params: { name: 'act' } },
    },
    seq,
  )
const response = (id: string, seq: number) =>
  accepted(
    'tools',
    { id: `r-${seq}`, kind: Kind.mcpResponse, correlationId: id, payload: { result: {} } },
    seq,
  )
const cancellation = (id: string, seq: number, from = 'ana') => {
  const payload = { method: 'notifications/cancelled', params: { requestId: id } }
  return accepted(
    from,
    { id: `c-${seq}`, kind: Kind.mcpRequest, to: ['tools'], correlationId: id, payload },
    seq,
  )
}
const said = (seq: number) =>
  accepted('ana', { id: `s-${seq}`, kind: Kind.chat, payload: { message: '' } }, seq)
const replay = (from: number, to: number) => ({ resume: { status: 'replaying', from, to } as const })

test('of the requests of a replay those are carried out, at its end, that nobody has answered or cancelled', async () => {
  const { first, seat, done } = await serving({ after: 0 })
  first.welcome(replay(1, 6))
  const space = await seat()
  first.deliver(request('answered', 1), request('cancelled', 2), request('open', 3), response('answered', 4))
  first.deliver(cancellation('cancelled', 5))
  expect(done).toEqual([])
  first.deliver(said(6), request('live', 7))
  await eventually(() => expect(done).toEqual(['open', 'live']))
  space.close()
})

test('somebody else can neither answer nor cancel a request of a replay', async () => {
  const { first, seat, done } = await serving({ after: 0 })
  first.welcome(replay(1, 3))
  const space = await seat()
  const answer = { id: 'x', kind: Kind.mcpResponse, correlationId: 'open', payload: { result: {} } }
  first.deliver(request('open', 1), accepted('eve', answer, 2), cancellation('open', 3, 'eve'))
  await eventually(() => expect(done).toEqual(['open']))
  space.close()
})

test('a log that begins anew has nothing carried out again', async () => {
  const { first, seat, done, next } = await serving()
  first.welcome()
  const space = await seat()
  first.deliver(request('once', 1))
  await eventually(() => expect(first.sent).toHaveLength(1))
  first.deliver(response('once', 2))
  first.close(1006)
  const second = await next()
  second.welcome({ resume: { status: 'lost', from: 1, to: 3 } })
  second.deliver(request('once', 1), response('once', 2), said(3), request('live', 4))
  await eventually(() => expect(done).toEqual(['once', 'live']))
  space.close()
})

test('a replay that a welcome ends, or that goes on over another line, has its requests carried out once', async () => {
  const { first, seat, done, next } = await serving({ after: 0 })
  first.welcome(replay(1, 9))
  const space = await seat()
  first.deliver(request('a', 1))
  first.close(1006)
  const second = await next()
  second.welcome(replay(2, 9))
  second.deliver(request('b', 2))
  expect(done).toEqual([])
  second.welcome({ resume: { status: 'live', from: 10, to: 9 } })
  await eventually(() => expect(done).toEqual(['a', 'b']))
  space.close()
})
