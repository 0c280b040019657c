import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, type Client, freshId, ofKind } from './client.js'
import { call, guarded, key, mark, thought } from './guarded.js'

/** The bytes of a frame's payload, as the client received them. */
const toBytes = (client: Client, frame: Envelope): string => {
  const text = client.texts.get(frame) ?? ''
  return text.slice(text.indexOf('"payload":'))
}

describe('what agents think aloud', () => {
  verifies('M27', 'is delivered and stored without its secrets, and the sender sees the same', async () => {
    const { running, ana, ben } = await guarded()
    const sent = thought(`the key is ${key}, so`, { metadata: { model: key, [key]: [key] } })
    const seen = { message: `the key is ${mark}, so`, metadata: { model: mark, [mark]: [mark] } }
    const { id, seq } = await ana.accepted(sent)
    expect((await ben.next(byId(id))).payload).toEqual(seen)
    const again = await running.connect('ben', { query: `after=${seq - 1}` })
    expect((await again.next(byId(id))).payload).toEqual(seen)
    for (const client of [ana, ben, again]) {
      for (const text of client.texts.values()) expect(text).not.toContain(key)
    }
  })

  test('keeps its bytes where there is nothing to hide, and all but the secret where there is', async () => {
    const { ana } = await guarded()
    const payload = (message: string) =>
      `{ "message":"${message}" ,"n": 1.0, "big":12345678901234567890,"\\u0061":[ ]}`
    for (const [id, sent, seen] of [
      ['plain', 'all is w\\u0065ll', 'all is w\\u0065ll'],
      ['masked', `it is ${key}`, `it is ${mark}`],
    ] as const) {
      ana.send(`{"id":"${id}","kind":"reasoning.new","context":"free","payload":${payload(sent)}}`)
      expect(toBytes(ana, await ana.next(byId(id)))).toBe(`"payload":${payload(seen)}}`)
    }
  })

  test('is guarded over HTTP too', async () => {
    const { running, ben } = await guarded()
    const { status } = await running.post('ana', { id: 'posted', ...thought(key) })
    expect(status).toBe(201)
    expect((await ben.next(byId('posted'))).payload).toEqual({ message: mark })
  })

  test('of a secret that is split over two thoughts, the second part is masked', async () => {
    const { ana, ben } = await guarded()
    await ana.accepted(thought('the key is EXK-01234', { metadata: { model: 'x' } }))
    const { payload } = await ana.accepted(thought('56789AB, and so on'))
    expect(payload).toEqual({ message: `${mark}, and so on` })
    await ben.accepted(thought('it is EXK-0'))
    expect((await ana.accepted(thought('123456789AB'))).payload).toEqual({ message: mark })
  })

  test.each([
    ['references', { references: ['P7eI3OLOZabEDfSbNp1vQ'] }],
    ['an id of a trace', { metadata: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736' } }],
    ['a model', { metadata: { model: 'gpt-4o-2024-08-06' } }],
    ['a commit, in a list', { metadata: { commits: ['0b7648d1e3f2a1b4c5d6e7f8a9b0c1d2e3f4a5b6'] } }],
  ])('does not mask %s behind a message that ends in the name of a secret', async (_, fields) => {
    const { ana } = await guarded()
    for (const message of ['the token expires', 'password reset', 'the api key works', 'a secret santa']) {
      const { payload } = await ana.accepted({ ...thought(message, fields), context: freshId() })
      expect(payload).toEqual({ message, ...fields })
    }
  })

  test('has no value of a label in the same field, or of the name of its field', async () => {
    const { ana } = await guarded()
    const value = 'P7eI3OLOZabEDfSbNp1vQ'
    const masked = '[redacted:credential]'
    for (const [sent, seen] of [
      [
        { metadata: { output: ['Your new API key:', value] } },
        { metadata: { output: ['Your new API key:', masked] } },
      ],
      [
        { steps: [{ text: 'api key:' }, { text: value }] },
        { steps: [{ text: 'api key:' }, { text: masked }] },
      ],
    ])
      expect((await ana.accepted({ ...thought('so', sent), context: freshId() })).payload).toEqual({
        message: 'so',
        ...seen,
      })
    await ana.accepted(thought('so', { metadata: { log: 'the token is ' } }))
    const { payload: next } = await ana.accepted(thought('so', { metadata: { log: value } }))
    expect(next).toEqual({ message: 'so', metadata: { log: masked } })
    await ana.accepted(thought('the token is ', { metadata: { model: 'x' } }))
    expect((await ana.accepted(thought(value))).payload).toEqual({ message: '[redacted:credential]' })
    const { payload } = await ana.accepted(thought('so', { metadata: { accessToken: value } }))
    expect(payload).toEqual({ message: 'so', metadata: { accessToken: '[redacted:credential]' } })
  })

  test('may grow by its marks beyond what may be sent', async () => {
    const limits = { maxEnvelopeBytes: 4096 }
    const rules = [
      { name: 'a-rule-with-a-very-long-name-indeed', pattern: 'Q[0-9]', action: 'mask' },
    ] as const
    const { running, ana, ben } = await guarded({ limits, safety: { rules } })
    const { id, seq } = await ana.accepted(thought('Q1 '.repeat(400)))
    const text = (await ben.next(byId(id))).payload.message as string
    expect(text.length).toBeGreaterThan(limits.maxEnvelopeBytes)
    expect(text).not.toMatch(/Q1/)
    const late = await running.connect('tools', { query: `after=${seq - 1}` })
    expect((await late.next(byId(id))).payload.message).toBe(text)
  })
})

describe('a retry', () => {
  test('repeats what was sent, not what came of it', async () => {
    const { ana, ben } = await guarded()
    const sent = { id: freshId(), ...thought(key) }
    ana.send(sent)
    ana.send(sent) // Sent while the first is being committed.
    const [first, second] = [await ana.next(byId(sent.id)), await ana.accepted(sent)]
    expect(second).toEqual(first)
    expect(second.payload).toEqual({ message: mark })
    expect(await ana.refused({ ...sent, ...thought(mark) })).toMatchObject({ code: 'duplicate_id' })
    await ana.accepted({ id: 'last', kind: 'chat', payload: { message: 'done' } })
    expect((await ben.until(byId('last'))).filter(byId(sent.id))).toHaveLength(1)
  })

  test('of a call whose rationale was withheld repeats what was sent', async () => {
    const { ana } = await guarded()
    const sent = { id: freshId(), ...call('launch code') }
    const first = await ana.accepted(sent)
    expect(first).not.toHaveProperty('rationale')
    expect(await ana.accepted(sent)).toEqual(first)
    expect(await ana.refused({ id: sent.id, ...call() })).toMatchObject({ code: 'duplicate_id' })
  })
})

describe('what is blocked', () => {
  verifies('I09', 'of a narrative is none: the turn goes on, and a warning is logged', async () => {
    const { ana, ben, lines } = await guarded()
    const { id: question } = await ben.accepted({ kind: 'chat', payload: { message: 'well?' } })
    const start = await ana.accepted({
      kind: 'reasoning.start',
      correlationId: question,
      payload: { message: `the launch code is ${key}.`, metadata: { approach: 'slow' } },
    })
    expect(start.payload).toEqual({ message: '', metadata: { approach: 'slow', withheld: true } })
    const inside = { context: start.id, kind: 'reasoning.thought' }
    const { payload } = await ana.accepted({ ...inside, payload: { message: 'launch code', phase: 'plan' } })
    expect(payload).toEqual({ message: '', phase: 'plan', metadata: { withheld: true } })
    await ana.accepted({ ...inside, kind: 'reasoning.conclusion', payload: { message: 'done' } })
    const answer = await ana.accepted({ kind: 'chat', correlationId: question, payload: { message: 'yes' } })
    expect(await ben.next(byId(answer.id))).toMatchObject({ payload: { message: 'yes' } })

    const warnings = lines.filter(({ message }) => message === 'a text was withheld')
    expect(warnings).toEqual([
      {
        level: 'warn',
        message: 'a text was withheld',
        fields: {
          space: 'test',
          from: 'ana',
          id: start.id,
          kind: 'reasoning.start',
          rules: ['no-plans', 'example-key'],
          times: 1,
        },
      },
    ])
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${key}|launch code`))
  })

  test('is recorded as a decision, behind the envelope; so is what is passed for review', async () => {
    const policy = [
      { name: 'customers', pattern: '(?i)acme corp', action: 'review' },
      { name: 'gossip', pattern: 'gossip', action: 'block' },
    ] as const
    const { ana } = await guarded({ safety: { policy } })
    const reviewed = await ana.accepted(thought('about ACME Corp'))
    expect(reviewed.payload).toEqual({ message: 'about ACME Corp' })
    expect(await ana.next(ofKind('system.decision'))).toMatchObject({
      to: ['ana', 'system:gateway'],
      payload: {
        decision: 'review',
        reasonCode: 'customers',
        attemptedId: reviewed.id,
        attemptedKind: 'reasoning.thought',
        context: 'free',
        count: 1,
      },
    })
    const blocked = await ana.accepted(thought('some gossip'))
    const { seq = 0, payload } = await ana.next(ofKind('system.decision'))
    expect(payload).toMatchObject({ decision: 'blocked', reasonCode: 'gossip', attemptedId: blocked.id })
    expect(seq).toBe(blocked.seq + 1)
    expect(JSON.stringify(payload)).not.toContain('some')
  })

  test('is told to the operator once a minute', async () => {
    const { ana, lines } = await guarded()
    for (let n = 0; n < 5; n++) await ana.accepted(thought('launch code'))
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })
})

describe('a rationale', () => {
  verifies(
    'I10',
    'of a tool call that is blocked, blank or missing is absent from the log, and a warning is logged',
    async () => {
      const { ana, ben, lines } = await guarded()
      for (const rationale of [undefined, '', '  \n', '\u200b', 'launch code', `launch code ${key}`]) {
        const { id } = await ana.accepted(call(rationale))
        expect(await ben.next(byId(id)), String(rationale)).not.toHaveProperty('rationale')
        const proposal = { kind: 'mcp.proposal', payload: { method: 'tools/call', params: { name: 'x' } } }
        const proposed = await ana.accepted({ ...proposal, ...(rationale !== undefined && { rationale }) })
        expect(proposed, String(rationale)).not.toHaveProperty('rationale')
      }
      const received = lines.map(({ level, message }) => `${level}: ${message}`)
      expect(received).toEqual(['warn: a tool call gives no reason', 'warn: a text was withheld'])
    },
  )

  test('of a person may be missing without a warning', async () => {
    const { ana, ben, lines } = await guarded({ humans: ['ana'] })
    await ana.accepted(call())
    expect(lines).toEqual([])
    await ben.accepted(call())
    expect(lines).toMatchObject([{ message: 'a tool call gives no reason', fields: { from: 'ben' } }])
  })

  verifies('I11', 'that is redacted stays as it is', async () => {
    const { ana, lines } = await guarded()
    const { rationale } = await ana.accepted(call(`${key} opens it`))
    expect(rationale).toBe(`${mark} opens it`)
    expect(lines).toEqual([])
  })

  test('that is withheld is told of by a decision', async () => {
    const { ana } = await guarded()
    const { id } = await ana.accepted(call('launch code'))
    expect((await ana.next(ofKind('system.decision'))).payload).toMatchObject({
      decision: 'blocked',
      reasonCode: 'no-plans',
      attemptedId: id,
    })
  })

  test('of other methods may be absent', async () => {
    const { ana } = await guarded()
    const list = { kind: 'mcp.request', to: ['tools'], payload: { method: 'tools/list' } }
    expect(await ana.accepted(list)).not.toHaveProperty('rationale')
    expect(await ana.accepted({ ...list, rationale: 'launch code' })).not.toHaveProperty('rationale')
  })
})

describe('what is not guarded', () => {
  test('MCP payloads are the very bytes that were sent, whatever they hold', async () => {
    const { ana, ben } = await guarded()
    const tools = await ben.accepted({ kind: 'chat', payload: { message: 'hello' } })
    const payload = `{"jsonrpc":"2.0", "id" : 1.0,"method":"tools/call","params":{"name":"${key}","metadata":{"a":"launch code ${key}"}}}`
    ana.send(`{"id":"asked","kind":"mcp.request","to":["ben"],"rationale":"${key}","payload":${payload}}`)
    const request = await ben.next(byId('asked'))
    expect(toBytes(ben, request)).toBe(`"payload":${payload}}`)
    expect(request.rationale).toBe(mark)
    const result = `{"result":{"metadata":{"key":"${key}"},"content":[ {"text":"launch code"} ]}}`
    ben.send(`{"id":"answered","kind":"mcp.response","correlationId":"asked","payload":${result}}`)
    expect(toBytes(ana, await ana.next(byId('answered')))).toBe(`"payload":${result}}`)
    expect(tools.payload).toEqual({ message: 'hello' })
  })

  test('messages of chat are not, their metadata is', async () => {
    const { ana } = await guarded()
    const { payload } = await ana.accepted({
      kind: 'chat',
      payload: { message: key, note: key, metadata: { seen: key, by: 'launch code' } },
    })
    expect(payload).toEqual({ message: key, note: key, metadata: { seen: mark, by: '' } })
  })
})
