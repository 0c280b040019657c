import { expect } from 'vitest'
import {
  answerTo,
  type CaseKind,
  cut,
  expectAlive,
  forEach,
  kind,
  lost,
  question,
  replaying,
} from './kind.js'
import { client } from './scripted-gateway.js'

/** Cases about connecting: how a client opens connections, and when it reconnects. */
export const connecting: readonly CaseKind[] = [
  kind('handshake', {
    'the token in a header, the subprotocol, nothing in the URL': async ({ gateway }) => {
      const { url, headers } = await gateway.welcomed()
      expect(url.pathname).toBe('/spaces/demo/ws')
      expect(url.href).not.toContain('secret')
      expect(headers['sec-websocket-protocol']?.split(/, */)).toContain('meup.v0.3')
      expect(headers.authorization).toBe('Bearer secret')
    },
    'a new connection has them too': async ({ gateway }) => {
      const { url, headers } = await cut(await gateway.welcomed())
      expect(url.href).not.toContain('secret')
      expect(headers.authorization).toBe('Bearer secret')
    },
  }),
  kind('position of a resume', {
    ...forEach([1001, 1006, 1011, 4408, 4410, 4429], async ({ gateway }, code) => {
      const line = await gateway.welcomed()
      await expectAlive(line)
      await (code === 1006 ? line.cut() : line.close(code))
      const { url } = await gateway.next()
      expect(Object.fromEntries(url.searchParams)).toMatchObject({ after: `${gateway.head}`, epoch: 'e1' })
    }),
    'frames without a seq do not count': async ({ gateway }) => {
      gateway.head = 7
      const line = await gateway.welcomed()
      const { seq: _, ...delta } = gateway.accept('bob', {
        kind: 'chat.delta',
        correlationId: 'q1',
        payload: { index: 0, text: 'x' },
      })
      line.deliver(delta)
      await line.settled()
      expect((await cut(line)).url.searchParams.get('after')).toBe('7')
    },
    'the answer to a retry, which comes out of order, does not count': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.start' ? 'withhold' : undefined)
      const asked = line.say('ana', question('one two three'))
      const start = await line.until(({ kind }) => kind === 'reasoning.start')
      const early = gateway.accept(client, start.envelope)
      line.say('bob', question('nothing', { correlationId: asked.id }))
      gateway.script = () => undefined
      line.deliver(early)
      await answerTo(line, asked)
      await line.settled()
      expect((await cut(line)).url.searchParams.get('after')).toBe(`${gateway.head}`)
    },
  }),
  kind('another epoch', {
    'the seqs of the new log count from its beginning': async ({ gateway }) => {
      gateway.head = 40
      const line = await gateway.welcomed()
      await expectAlive(line)
      const again = await cut(line)
      Object.assign(gateway, { epoch: 'e2', head: 0 })
      const asked = gateway.accept('ana', question('one two three'))
      again.welcome(lost(1))
      again.deliver(asked)
      await answerTo(again, asked)
      await again.settled()
      const { url } = await cut(again)
      expect(url.searchParams.get('epoch')).toBe('e2')
      expect(url.searchParams.get('after')).toBe(`${gateway.head}`)
    },
    'an empty new log': async ({ gateway }) => {
      gateway.head = 40
      const again = await cut(await gateway.welcomed())
      Object.assign(gateway, { epoch: 'e2', head: 0 })
      again.welcome(lost(0))
      await expectAlive(again)
    },
  }),
  kind('`lost` with the same epoch beyond the head', {
    'the seqs begin anew': async ({ gateway }) => {
      gateway.head = 40
      const line = await gateway.welcomed()
      await expectAlive(line)
      const again = await cut(line)
      gateway.head = 0
      const asked = gateway.accept('ana', question('one two three'))
      again.welcome(lost(1))
      again.deliver(asked)
      await answerTo(again, asked)
      await again.settled()
      const { url } = await cut(again)
      expect(Object.fromEntries(url.searchParams)).toMatchObject({ after: `${gateway.head}`, epoch: 'e1' })
    },
    'what comes live afterwards is heard': async ({ gateway }) => {
      gateway.head = 40
      const again = await cut(await gateway.welcomed())
      gateway.head = 2
      again.welcome(lost(2))
      again.deliver(gateway.accept('ana', question('old', { to: ['bob'] }), 1))
      again.deliver(gateway.accept('ana', question('old', { to: ['bob'] }), 2))
      await expectAlive(again)
    },
  }),
  kind('final close codes', {
    ...forEach([4400, 4401, 4403, 4404, 4412], async ({ gateway, running }, code) => {
      const line = await gateway.welcomed()
      await line.close(code)
      await running.ended
      expect(gateway.attempts).toHaveLength(1)
    }),
    'before the welcome': async ({ gateway, running }) => {
      await (await gateway.next()).close(4403)
      await running.ended
      expect(gateway.attempts).toHaveLength(1)
    },
  }),
  kind('final HTTP statuses', {
    ...forEach([400, 401, 403, 404], async ({ gateway, running }, status) => {
      const line = await gateway.welcomed()
      gateway.refusals.push({ status })
      await line.cut()
      await running.ended
      expect(gateway.attempts).toHaveLength(2)
    }),
    'with a problem as body': async ({ gateway, running }) => {
      const line = await gateway.welcomed()
      gateway.refusals.push({ status: 401, ...problem(401, 'unauthorized') })
      await line.cut()
      await running.ended
      expect(gateway.attempts).toHaveLength(2)
    },
  }),
  kind('Retry-After', {
    ...forEach([429, 503], async ({ gateway }, status) => {
      const line = await gateway.welcomed()
      gateway.refusals.push({ status, headers: { 'Retry-After': '1' }, ...problem(status, 'rate_limited') })
      await line.cut()
      await expectAlive(await gateway.welcomed())
      expect(gateway.waits[1]).toBeGreaterThan(990)
    }),
    'without a body': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.refusals.push({ status: 503, headers: { 'Retry-After': '1' } })
      await line.cut()
      await gateway.next()
      expect(gateway.waits[1]).toBeGreaterThan(990)
    },
  }),
  kind(
    'back-off',
    {
      'the wait doubles with each failure, and begins anew after a welcome': async ({ gateway }) => {
        const line = await gateway.welcomed()
        gateway.refusals.push({ status: 503 }, { status: 502 }, { status: 503 })
        await line.cut()
        await (await gateway.welcomed()).cut()
        await gateway.next()
        const { waits } = gateway
        for (const [index, least] of [500, 1000, 2000].entries()) {
          expect(waits[index + 1]).toBeGreaterThan(least * 0.95)
        }
        expect(waits[4]).toBeLessThan(1500)
      },
    },
    { random: 0.999 },
  ),
  kind('nothing before the first welcome', {
    'nothing is sent': async ({ gateway }) => {
      const line = await gateway.next()
      await line.settled()
      expect(line.sent).toEqual([])
      line.welcome()
      await expectAlive(line)
    },
    'nothing is sent over a new connection either': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.start' ? 'withhold' : undefined)
      line.say('ana', question('one two three'))
      await line.until(({ kind }) => kind === 'reasoning.start')
      const again = await cut(line)
      await again.settled()
      expect(again.sent).toEqual([])
    },
    ...forEach(['{"kind":"chat"}', 'null', 'no JSON'], async ({ gateway }, frame) => {
      const line = await cut(await gateway.welcomed())
      line.raw(frame)
      await line.closed
      await expectAlive(await gateway.welcomed())
    }),
    'what comes before it is not acted on': async ({ gateway }) => {
      const line = await cut(await gateway.welcomed())
      const asked = gateway.accept('ana', question('one two three'))
      line.deliver(asked)
      await line.closed
      expect(line.sent).toEqual([])
      await expectAlive(await gateway.welcomed(replaying(gateway.head + 1, gateway.head)))
    },
  }),
  kind('a second welcome', {
    'on a live line': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const asked = line.say('ana', question('one two three'))
      line.welcome()
      await answerTo(line, asked)
      line.welcome({ you: { id: client, capabilities: ['chat', 'reasoning.*', 'mcp.response'] } })
      await expectAlive(line)
    },
    'what waits for its acknowledgement keeps its place': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.start' ? 'withhold' : undefined)
      const asked = line.say('ana', question('one two three'))
      const start = await line.until(({ kind }) => kind === 'reasoning.start')
      line.welcome()
      gateway.script = () => undefined
      line.acknowledge(start)
      await answerTo(line, asked)
      const starts = line.envelopes.filter(({ kind }) => kind === 'reasoning.start')
      expect(new Set(starts.map(({ id }) => id)).size).toBe(1)
    },
  }),
  kind('subscribed again after a reconnect', {
    'on every line, after its welcome': async ({ gateway }) => {
      let line = await gateway.welcomed()
      for (let lines = 0; lines < 3; lines++) {
        const { envelope } = await line.until(({ kind }) => kind === 'observe.subscribe')
        expect(envelope.payload).toMatchObject({ reasoning: 'boundaries' })
        line = await cut(line)
        await line.settled()
        expect(line.sent).toEqual([])
        line.welcome()
      }
    },
    'the welcome that answers it changes nothing': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 0))
      await again.until(({ kind }) => kind === 'observe.subscribe')
      await expectAlive(again)
    },
  }),
]

const problem = (status: number, code: string) => ({
  body: JSON.stringify({ type: 'about:blank', title: code, status, detail: 'not now', code }),
})
