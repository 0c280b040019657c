import { type DialRequest, SpaceClient } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { SafetyError } from '@meup/safety'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { usedIdError } from '../src/client/errors.js'
import { scriptedDial } from './support/scripted-line.js'

const key = 'EXK-0123456789AB'
const mark = '[redacted:example-key]'
const safety = {
  rules: [
    { name: 'example-key', pattern: 'EXK-[A-Z0-9]{12}', action: 'mask' },
    { name: 'no-plans', pattern: 'launch code', action: 'block' },
  ],
} as const

afterEach(() => void vi.restoreAllMocks())

/** A connected client, and a function that sends a draft and returns the envelope that the gateway receives. */
async function seated(options: Pick<DialRequest, 'safety'> = { safety }) {
  const line = scriptedDial()
  const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test', ...options })
  const first = await line.next()
  first.welcome()
  const seat = await opening
  const said = (draft: Parameters<SpaceClient['send']>[0]) => {
    void seat.send(draft).catch(() => {})
    return first.sent.at(-1)
  }
  return { ...line, first, seat, said }
}

const thought = (message: string) => ({ kind: 'reasoning.thought', context: 'run', payload: { message } })

describe('what leaves the process', () => {
  test('holds no secret in what is thought aloud, whatever it is written as', async () => {
    const { said } = await seated()
    const at = { toJSON: () => `at ${key}` }
    const more = { n: 1.5, metadata: { at, [key]: [key] } }
    const payload = { message: `it is ${key}.`, ...more }
    const seen = {
      message: `it is ${mark}.`,
      n: 1.5,
      metadata: { at: `at ${mark}`, [mark]: [mark] },
    }
    expect(said({ ...thought(''), payload })?.payload).toEqual(seen)
    const slashed = { ...thought(''), context: 'other', kind: 'reasoning/thought' }
    expect(said({ ...slashed, payload })?.payload).toEqual(seen)
    expect(said({ kind: 'acme.note', payload })?.payload).toEqual({ ...seen, message: `it is ${key}.` })
  })

  test('in the reason of a tool call, and nothing in the call', async () => {
    const { said } = await seated()
    const call = { kind: 'mcp.request', to: ['files'], payload: { method: 'tools/call', params: { key } } }
    expect(said({ ...call, rationale: `${key} opens it` })).toMatchObject({
      ...call,
      rationale: `${mark} opens it`,
    })
    expect(said({ ...call, rationale: 'launch code' })).not.toHaveProperty('rationale')
    expect(said(call)).not.toHaveProperty('rationale')
    expect(said({ kind: 'chat', payload: { message: key } })?.payload).toEqual({ message: key })
  })

  test('of a secret that is split over two thoughts, only the first part', async () => {
    const { said } = await seated()
    expect(said(thought('EXK-01234'))?.payload).toEqual({ message: 'EXK-01234' })
    expect(said(thought('56789AB, so'))?.payload).toEqual({ message: `${mark}, so` })
  })

  test('is withheld where it is blocked', async () => {
    const { said } = await seated()
    expect(said(thought('launch code'))?.payload).toEqual({ message: '', metadata: { withheld: true } })
  })
})

test('what is sent again goes out again as it went the first time', async () => {
  const { first, next, seat } = await seated()
  const draft = { id: 'said', ...thought(key) }
  const acknowledged = [seat.send(draft), seat.send(draft)]
  expect(first.sent).toHaveLength(1)
  await expect(seat.send({ id: 'said', ...thought(mark) })).rejects.toThrow(usedIdError('said').message)
  vi.spyOn(Math, 'random').mockReturnValue(0)
  first.close(1006)
  const second = await next()
  second.welcome()
  expect(second.sent).toEqual(first.sent)
  const [sent] = second.sent
  if (sent === undefined) throw new Error('nothing was sent')
  second.accept(sent, 1)
  for (const echo of await Promise.all(acknowledged)) expect(echo.payload).toEqual({ message: mark })
  seat.close()
})

describe('the setting', () => {
  test('false leaves it to the gateway', async () => {
    const { said } = await seated({ safety: false })
    expect(said(thought(key))?.payload).toEqual({ message: key })
  })

  test('that cannot be used is told at once', async () => {
    const wrong = { rules: [{ name: 'x', pattern: '(', action: 'mask' }] } as const
    const request = { url: 'memory:', space: 'test', safety: wrong }
    await expect(SpaceClient.open(scriptedDial().dial, request)).rejects.toThrow(SafetyError)
  })

  test('of a space is not weakened by it', async () => {
    await using space = await createTestSpace({ participants: { ana: ['*'] }, safety })
    const ana = await space.join('ana', { safety: false })
    expect((await ana.send(thought(key))).payload).toEqual({ message: mark })
    const guarded = await space.join('ana', { safety: { onLeak: 'block', rules: safety.rules } })
    expect((await guarded.send(thought(key))).payload).toEqual({ message: '', metadata: { withheld: true } })
  })
})
