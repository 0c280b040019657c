import { namespaceOf } from '@meup/protocol'
import { expect } from 'vitest'
import {
  answerTo,
  type CaseKind,
  call,
  expectAlive,
  forEach,
  inTurn,
  kind,
  question,
  responseTo,
} from './kind.js'
import { client, type Line, type Script, type Sent } from './scripted-gateway.js'

/** Cases about errors and faulty frames. */
export const refusals: readonly CaseKind[] = [
  kind('unreadable frames', {
    'of all sorts': inTurn(
      [
        'no JSON',
        '',
        '[]',
        'null',
        '7',
        '{}',
        '{"seq":"x"}',
        '{"kind":"chat","payload":null,"from":"ana","id":"x","ts":"2026-01-01T00:00:00.000Z"}',
        '{"kind":"system.error","payload":null,"from":"system:gateway","id":"x","ts":"2026-01-01T00:00:00.000Z"}',
        '{"kind":7,"payload":{},"from":[],"id":"x"}',
      ],
      async (line, frame) => {
        line.raw(frame)
        await expectAlive(line)
      },
    ),
    'kinds and fields that nobody knows': async ({ gateway }) => {
      const line = await gateway.welcomed()
      line.deliver(
        { ...gateway.accept('ana', { kind: 'stream.open', payload: { x: 1 } }), later: true },
        gateway.frame('system.weather', { rain: true }),
      )
      await expectAlive(line)
    },
  }),
  kind('errors without a known id', {
    'none, and a foreign one': inTurn([undefined, 'somebody-elses'], async (line, id) => {
      line.gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.start' ? 'withhold' : undefined)
      const asked = line.say('ana', question('one two three'))
      const start = await line.until(isOwn('reasoning.start', asked.id))
      line.refuse(id, { code: 'invalid_json' })
      line.refuse(id, { code: 'rate_limited', retryAfterMs: 60_000, details: { class: 'chat' } })
      await line.settled()
      line.gateway.script = () => undefined
      line.acknowledge(start)
      await answerTo(line, asked)
    }),
  }),
  kind('rate_limited is passing', {
    ...forEach(
      ['reasoning.start', 'reasoning.thought', 'reasoning.conclusion', 'chat'],
      async (stage, refused) => {
        const line = await stage.gateway.welcomed()
        const again = refuseOnce(line, refused, { code: 'rate_limited', retryAfterMs: 300 })
        const asked = line.say('ana', question('one two three'))
        await answerTo(line, asked)
        await again((first, second) => {
          expect(second.text).toBe(first.text)
          expect(second.at - first.at).toBeGreaterThan(295)
          expect(between(line, first, second, refused)).toEqual([])
        })
        await expectAlive(line)
      },
    ),
    'a response': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const again = refuseOnce(line, 'mcp.response', { code: 'rate_limited', retryAfterMs: 300 })
      await responseTo(line, line.say('ana', call()))
      await again((first, second) => {
        expect(second.text).toBe(first.text)
        expect(second.at - first.at).toBeGreaterThan(295)
      })
    },
    'many at once, of which one passes at a time': async ({ gateway }) => {
      const line = await gateway.welcomed()
      let passesAt = 0
      gateway.script = ({ envelope, at }) => {
        if (envelope.kind !== 'reasoning.start') return undefined
        if (at < passesAt) return { code: 'rate_limited', retryAfterMs: Math.ceil(passesAt - at) }
        passesAt = at + 20
        return undefined
      }
      const asked = Array.from({ length: 20 }, () =>
        line.say('ana', question('a b c', { from: 'x' } as object)),
      )
      await Promise.all(asked.slice(0, 8).map((each) => answerTo(line, each)))
    },
  }),
  kind('other classes go on', {
    'a call is answered while thoughts wait': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const again = refuseOnce(line, 'reasoning.start', { code: 'rate_limited', retryAfterMs: 1500 })
      line.say('ana', question('one two three'))
      await line.until(({ kind }) => kind === 'reasoning.start')
      const response = await responseTo(line, line.say('ana', call()))
      await again((_, second) => expect(response.at).toBeLessThan(second.at))
    },
    'thoughts go on while responses wait': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const again = refuseOnce(line, 'mcp.response', { code: 'rate_limited', retryAfterMs: 1500 })
      await line.until(isOwn('mcp.response', line.say('ana', call()).id))
      const answer = await answerTo(line, line.say('ana', question('one two three')))
      await again((_, second) => expect(answer.at).toBeLessThan(second.at))
    },
  }),
  kind('paused', {
    'until it is resumed, and responses go on': async ({ gateway }) => {
      const line = await gateway.welcomed()
      line.say('ana', { kind: 'participant.pause', to: [client], payload: {} })
      gateway.script = pausedScript
      const asked = line.say('ana', question('one two three'))
      const called = line.say('ana', call())
      await responseTo(line, called)
      await line.settled()
      const before = line.envelopes.filter(({ kind }) => kind !== 'mcp.response').length
      expect(before).toBeLessThanOrEqual(1)
      gateway.script = () => undefined
      line.say('ana', { kind: 'participant.resume', to: [client], payload: {} })
      await answerTo(line, asked)
    },
    'known from a refusal alone': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = pausedScript
      const asked = line.say('ana', question('one two three'))
      await line.until(({ kind }) => kind === 'reasoning.start')
      await line.settled()
      gateway.script = () => undefined
      line.say('ana', { kind: 'participant.resume', to: [client, 'bob'], payload: {} })
      await answerTo(line, asked)
    },
    'until its time is over': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const until = performance.now() + 1000
      gateway.script = (sent, each) => (sent.at < until ? pausedScript(sent, each) : undefined)
      line.say('ana', { kind: 'participant.pause', to: [client], payload: { timeoutSeconds: 1 } })
      await answerTo(line, line.say('ana', question('one two three')))
      expect(line.envelopes.length).toBeLessThan(8)
    },
  }),
  kind('unavailable is passing', {
    ...forEach(
      ['reasoning.start', 'reasoning.thought', 'chat', 'mcp.response'],
      async ({ gateway }, refused) => {
        const line = await gateway.welcomed()
        const again = refuseOnce(line, refused, { code: 'unavailable' })
        const [asked, called] = [line.say('ana', question('one two three')), line.say('ana', call())]
        await Promise.all([answerTo(line, asked), responseTo(line, called)])
        await again((first, second) => expect(second.text).toBe(first.text))
      },
    ),
    'internal, several times': async ({ gateway }) => {
      const line = await gateway.welcomed()
      let left = 2
      gateway.script = ({ envelope }) =>
        envelope.kind === 'reasoning.start' && left-- > 0 ? { code: 'internal' } : undefined
      await answerTo(line, line.say('ana', question('one two three')))
    },
  }),
  kind('a start is acknowledged before its thoughts are sent', {
    'a start that is not acknowledged yet': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.start' ? 'withhold' : undefined)
      const asked = line.say('ana', question('one two three'))
      const start = await line.until(({ kind }) => kind === 'reasoning.start')
      await line.settled()
      expect(line.envelopes).toHaveLength(1)
      gateway.script = () => undefined
      line.acknowledge(start)
      await answerTo(line, asked)
    },
    'a start that is refused for the time being': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const again = refuseOnce(line, 'reasoning.start', { code: 'rate_limited', retryAfterMs: 300 })
      const asked = line.say('ana', question('one two three'))
      await answerTo(line, asked)
      await again((first, second) => {
        const thoughts = line.sent.filter(({ envelope }) => envelope.context === first.envelope.id)
        for (const { at } of thoughts) expect(at).toBeGreaterThanOrEqual(second.at)
      })
    },
    'a start that is refused for good': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const starts: string[] = []
      gateway.script = ({ envelope }) => {
        if (envelope.kind !== 'reasoning.start') return undefined
        starts.push(envelope.id)
        return starts.length === 1 ? { code: 'capability_violation' } : undefined
      }
      line.say('ana', question('one two three'))
      await line.until(({ kind }) => kind === 'reasoning.start')
      await expectAlive(line)
      expect(line.envelopes.filter(({ context }) => context === starts[0])).toEqual([])
    },
  }),
]

const isOwn =
  (ofKind: string, id: string) =>
  ({ kind, correlationId }: { kind: string; correlationId?: unknown }): boolean =>
    kind === ofKind && correlationId === id

/** A script that refuses everything that a paused participant may not send. */
const pausedScript: Script = ({ envelope }) =>
  ['mcp.response', 'observe.subscribe'].includes(envelope.kind) ? undefined : { code: 'participant_paused' }

/** Refuses the first frame of a kind. Returns a function that waits until the client has sent the frame again. */
function refuseOnce(line: Line, refused: string, refusal: { code: string; retryAfterMs?: number }) {
  let first: Sent | undefined
  line.gateway.script = (sent) => {
    if (sent.envelope.kind !== refused || first !== undefined) return undefined
    first = sent
    return { ...refusal, details: { class: namespaceOf(refused) } }
  }
  return async (check: (first: Sent, second: Sent) => void): Promise<void> => {
    const second = await line.until(
      ({ kind }, sent) => kind === refused && sent !== first && first !== undefined,
    )
    check(first as Sent, second)
  }
}

/** Lists the kinds in the namespace of `ofKind`, such as `chat` for `chat.delta`, that were sent between two frames. */
const between = (line: Line, first: Sent, second: Sent, ofKind: string): string[] =>
  line.sent
    .slice(line.sent.indexOf(first) + 1, line.sent.indexOf(second))
    .map(({ envelope }) => envelope.kind)
    .filter((each) => namespaceOf(each) === namespaceOf(ofKind))
