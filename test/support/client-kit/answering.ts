import { type AnyEnvelope, defaultLimits, getMember } from '@meup/protocol'
import { expect } from 'vitest'
import {
  about,
  answerTo,
  type CaseKind,
  call,
  expectAlive,
  forEach,
  inTurn,
  kind,
  outcomeOf,
  question,
  responseTo,
} from './kind.js'
import { client, type Line, type Said } from './scripted-gateway.js'

/** Cases about questions and calls: which ones a client answers, and how. */
export const answering: readonly CaseKind[] = [
  kind('answers a question', {
    'one after the other': inTurn(
      ['how many words are these', 'one', 'two\nlines "quoted" \\ and ünïcödé', `${'word '.repeat(500)}end`],
      async (line, message) => {
        const asked = line.say('ana', question(message))
        const { envelope } = await answerTo(line, asked)
        const words = message.split(/\s+/).length
        expect(envelope).toMatchObject({ payload: { message: `${words} words` } })
        expect(envelope.context).toBeUndefined()
        await line.settled()
        const kinds = about(line, asked).map((each) => each.kind)
        expect(kinds).toEqual(['reasoning.start', 'reasoning.thought', 'reasoning.conclusion', 'chat'])
      },
    ),
    'one that names it': async ({ gateway }) => {
      const line = await gateway.welcomed()
      await answerTo(line, line.say('bob', question('for you', { to: [client], correlationId: 'x1' })))
    },
    'several at once, each for itself': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const asked = ['one', 'one two', 'one two three'].map((text) => line.say('ana', question(text)))
      for (const [index, each] of asked.entries()) {
        const { envelope } = await answerTo(line, each)
        expect(envelope.payload).toMatchObject({ message: `${index + 1} words` })
      }
    },
  }),
  kind("a private question's answer, run and deltas stay private", {
    ...forEach([[client], [client, 'bob']], async ({ gateway }, to) => {
      const line = await gateway.welcomed()
      const asked = line.say('ana', question('the secret is 7', { to }))
      await answerTo(line, asked)
      await line.settled()
      const turn = about(line, asked)
      expect(turn.length).toBeGreaterThan(3)
      for (const { to: readers = [] } of turn) {
        expect(readers).toContain('ana')
        expect(['ana', ...to]).toEqual(expect.arrayContaining([...readers]))
      }
    }),
    'a public one after it is answered in public': async ({ gateway }) => {
      const line = await gateway.welcomed()
      await answerTo(line, line.say('ana', question('the secret is 7', { to: [client] })))
      const asked = line.say('ana', question('how many words'))
      await answerTo(line, asked)
      expect(about(line, asked).map(({ to }) => to)).toEqual([undefined, undefined, undefined, undefined])
    },
  }),
  kind('not answered: what is for another, what correlates', {
    'whatever is for others': inTurn<Said>(
      [
        question('for bob', { to: ['bob'] }),
        question('to bob', { payload: { message: 'and you', mentions: ['bob'] } }),
        question('an answer', { correlationId: 'q0' }),
        question('answers', { correlationId: ['q0', 'q1'] }),
        question('aside', { context: 'notes' }),
        { kind: 'chat.acknowledge', correlationId: 'q0', payload: {} },
        { kind: 'lab.note', payload: { message: 'how many' } },
      ],
      async (line, said) => {
        const passed = line.say('ana', said)
        await expectAlive(line)
        expect(about(line, passed)).toEqual([])
      },
    ),
    'what it says itself over another connection': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const own = line.say(client, question('my own words'))
      await expectAlive(line)
      expect(about(line, own)).toEqual([])
    },
  }),
  kind('JSON-RPC id as sent', {
    'numbers and texts': inTurn(
      [
        '7',
        '0',
        '-3',
        '"a-1"',
        '"1.0"',
        '""',
        '1.0',
        '1e2',
        '2.50',
        '9007199254740993',
        '123456789012345678901234567890',
      ],
      async (line, token) => {
        const asked = line.gateway.accept('ana', call({ text: 'id":1,"id":2', id: 3 }))
        line.raw(JSON.stringify(asked).replace('"jsonrpc":"2.0","id":1', `"jsonrpc":"2.0","id" : ${token}`))
        expect(await rpcIdOf(line, asked)).toBe(token)
      },
    ),
    'behind arguments that have one too': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const params = { name: 'shout', arguments: { text: 'x', id: 5 } }
      const asked = gateway.accept('ana', {
        ...call(),
        payload: { jsonrpc: '2.0', method: 'tools/call', params, id: 0 },
      })
      line.raw(JSON.stringify(asked).replace('"id":0}', '"id":5.0}'))
      expect(await rpcIdOf(line, asked)).toBe('5.0')
    },
  }),
  kind('unknown method', {
    'of MCP, and of nobody': inTurn(
      ['resources/read', 'nobody/knows', 'completion/complete'],
      async (line, method) => {
        const asked = line.say('ana', call({}, { method, params: {} }))
        expect((await outcomeOf(line, asked)).error?.code).toBe(-32601)
        await expectAlive(line)
      },
    ),
  }),
  kind('a method of the same name', {
    'with arguments that would do': inTurn(
      ['prompts/get', 'resources/read', 'tools/describe'],
      async (line, method) => {
        const asked = line.say('ana', call({ text: 'quietly' }, { method }))
        expect((await outcomeOf(line, asked)).error?.code).toBe(-32601)
      },
    ),
  }),
  kind('unknown tool', {
    'by many names': inTurn(['whisper', 'toString', '__proto__', 'Shout', ''], async (line, name) => {
      const params = JSON.parse(`{"name":${JSON.stringify(name)},"arguments":{"text":"x"}}`) as object
      const { error, result } = await outcomeOf(line, line.say('ana', call({}, { params })))
      expect(error?.code ?? result?.isError).toBeOneOf([-32601, -32602, true])
    }),
    'without a name': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const { error, result } = await outcomeOf(line, line.say('ana', call({}, { params: undefined })))
      expect(error?.code ?? result?.isError).toBeOneOf([-32601, -32602, true])
    },
  }),
  kind('a tool that throws', {
    'and works afterwards': inTurn([{}, { text: 5 }, { text: null }, null, []], async (line, args) => {
      const { result } = await outcomeOf(line, line.say('ana', call(args)))
      expect(result?.isError).toBe(true)
      await expectAlive(line)
      const next = await outcomeOf(line, line.say('ana', call({ text: 'again' })))
      expect(next.result?.content[0]?.text).toBe('AGAIN')
    }),
  }),
  kind('elicitation', {
    'about its answer': inTurn(
      [{}, { message: 'sure?', requestedSchema: { type: 'object', properties: {} } }],
      async (line, params) => {
        const answered = await answerTo(line, line.say('ana', question('delete all')))
        const { id } = answered.envelope
        const asked = line.say(
          'ana',
          call({}, { method: 'elicitation/create', params }, { correlationId: id }),
        )
        const { result, error } = await outcomeOf(line, asked)
        expect(result?.action ?? error?.code).toBeOneOf(['decline', 'cancel', -32601])
      },
    ),
    'one that is about nothing': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const asked = line.say('ana', call({}, { method: 'elicitation/create', params: {} }))
      const { result, error } = await outcomeOf(line, asked)
      expect(result?.action ?? error?.code).toBeOneOf(['decline', 'cancel', -32601])
    },
  }),
  kind('a frame of 3 MB', {
    ...forEach([3_000_000, 8_000_000], async ({ gateway }, chars) => {
      const line = await gateway.welcomed()
      const content = [{ type: 'text', text: 'x'.repeat(chars) }]
      const payload = { jsonrpc: '2.0', id: 1, result: { content } }
      line.say('bob', { kind: 'mcp.response', to: ['ana'], correlationId: 'c1', payload })
      await expectAlive(line)
      expect(gateway.attempts).toHaveLength(1)
    }),
  }),
  kind('a result over the limit becomes `isError`', {
    ...forEach([400_000, 2_000_000], async ({ gateway }, chars) => {
      gateway.state = { limits: { ...defaultLimits, maxResultBytes: 300_000 } }
      const line = await gateway.welcomed()
      await expectExcerpt(line, 'x'.repeat(chars))
      await expectAlive(line)
    }),
    'of characters that must not be cut in two': async ({ gateway }) => {
      gateway.state = { limits: { ...defaultLimits, maxResultBytes: 300_000 } }
      await expectExcerpt(await gateway.welcomed(), `x${'😀'.repeat(100_000)}`)
    },
    'counted in bytes': async ({ gateway }) => {
      gateway.state = { limits: { ...defaultLimits, maxResultBytes: 300_000 } }
      await expectExcerpt(await gateway.welcomed(), 'ü'.repeat(200_000))
    },
    'where the gateway finds it too large': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ text }) => (text.length > 100_000 ? { code: 'payload_too_large' } : undefined)
      await expectExcerpt(line, 'x'.repeat(150_000))
    },
    'by the limits of the last welcome': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const limits = { ...defaultLimits, maxEnvelopeBytes: 50_000, maxResultBytes: 60_000 }
      // The gateway also answers a subscription with a welcome, which must have the same limits as the one below.
      gateway.state = { limits }
      line.welcome({ limits })
      await expectExcerpt(line, 'x'.repeat(70_000), 60_000)
    },
  }),
]

/**
 * Checks that a call with a text that is too long for a response gets a result with an error message, and that no frame is too
 * large.
 */
async function expectExcerpt(line: Line, text: string, maxBytes = 300_000): Promise<void> {
  const asked = line.say('ana', call({ text }))
  const { envelope } = await line.until(
    ({ kind, correlationId, payload }) =>
      kind === 'mcp.response' &&
      correlationId === asked.id &&
      (payload as { result?: { isError?: boolean } }).result?.isError === true,
  )
  const [block] = (envelope.payload as { result: { content: { text: string }[] } }).result.content
  expect(block?.text.isWellFormed()).toBe(true)
  expect(block?.text).toContain(text.slice(0, 100).toUpperCase())
  for (const sent of line.sent) expect(Buffer.byteLength(sent.text)).toBeLessThanOrEqual(maxBytes)
}

/** Returns the JSON-RPC id of the response, as it was written. */
async function rpcIdOf(line: Line, asked: AnyEnvelope): Promise<string> {
  const { text } = await responseTo(line, asked)
  const payload = getMember(Buffer.from(text), 'payload') ?? Buffer.of()
  return Buffer.from(getMember(payload, 'id') ?? []).toString()
}
