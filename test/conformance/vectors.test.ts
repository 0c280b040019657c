import type { Draft } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import {
  type Capability,
  type Envelope,
  type ErrorPayload,
  getKindRule,
  type ProtocolError,
} from '@meup/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { vectors } from '../../protocol/test/vectors.js'

/** What is wrong with a frame itself; everything else depends on the space. */
const frameCodes = ['invalid_json', 'invalid_envelope', 'unsupported_protocol']

/** What is wrong with an envelope whatever its sender may do. */
const beforeRights: ReadonlySet<string> = new Set([
  'invalid_json',
  'invalid_envelope',
  'invalid_payload',
  'invalid_context',
  'reserved_kind',
  'unknown_kind',
])

describe('the gateway answers as the vectors say', () => {
  const heard: Envelope[] = []
  let line: { send(text: string): void }
  let close = async (): Promise<void> => {}
  let fences = 0

  beforeAll(async () => {
    const gateway = await createTestGateway({ participants: { ana: ['*'], calc: [], 'b.2': [] } })
    const knock = { space: 'test', token: testToken('ana') }
    line = await dialInMemory(gateway, knock, {
      message: (text) => heard.push(JSON.parse(text) as Envelope),
      close: () => {},
    })
    close = () => gateway.close()
  })
  afterAll(() => close())

  /** The error that one frame is answered with. */
  async function answerTo(frame: string): Promise<ErrorPayload | undefined> {
    heard.length = 0
    const id = `fence-${fences++}`
    line.send(frame)
    line.send(JSON.stringify({ id, kind: 'test.fence' }))
    await expect.poll(() => heard.some((envelope) => envelope.id === id), { interval: 1 }).toBe(true)
    return heard.find(({ kind }) => kind === 'system.error')?.payload as ErrorPayload | undefined
  }

  test.each(vectors('envelopes'))('$title', async ({ input, expect: expected }) => {
    const answer = await answerTo(input)
    if (expected === 'ok') expect(frameCodes).not.toContain(answer?.code)
    else expect({ code: answer?.code, path: answer?.details?.path }).toMatchObject({ ...expected })
  })
})

describe('the gateway decides as the vectors say', () => {
  /** The code that one participant's envelope is refused with. */
  async function refusalOf(capabilities: Capability[], draft: Draft): Promise<string | undefined> {
    const addressees = Object.fromEntries((draft.to ?? []).map((id) => [id, []]))
    await using space = await createTestSpace({ participants: { ...addressees, ana: capabilities } })
    const ana = await space.join('ana')
    const code = ana.send(draft).then(
      () => undefined,
      (error: ProtocolError) => error.code,
    )
    if (!getKindRule(draft.kind)?.live) return await code
    // It is not acknowledged: it was accepted if what is sent after it is answered first.
    return await Promise.race([code, ana.subscribe({}).then(() => undefined)])
  }

  const decided = vectors('capabilities').filter((vector) => typeof vector.expect === 'boolean')
  test.each(decided)('capabilities: $title', async ({ input, expect: allowed }) => {
    const { kind, payload, ...rest } = input.envelope
    const wireKind = kind.replaceAll('/', '.')
    // What it is is checked before capabilities are: a chat has a message.
    const whole = wireKind === 'chat' ? { message: 'x', ...(payload as object) } : (payload as object)
    const draft = { ...rest, kind: wireKind, payload: whole }
    const code = await refusalOf(input.capabilities as Capability[], draft)
    // What the gateway refuses before it comes to capabilities says nothing of them.
    if (beforeRights.has(code ?? '')) return
    expect(code === 'capability_violation').toBe(!allowed)
  })

  const paths = vectors('contexts').flatMap(({ title, input, expect: expected }) =>
    typeof input.parse === 'string' && (expected === null || Array.isArray(expected))
      ? [{ title, path: input.parse, isLegal: expected !== null }]
      : [],
  )
  test.each(paths)('contexts: $title', async ({ path, isLegal }) => {
    const draft = { kind: 'chat', context: path, payload: { message: 'here' } }
    expect(await refusalOf(['*'], draft)).toBe(isLegal ? undefined : 'invalid_context')
  })

  test('there are enough of them to mean something', () => {
    expect(paths.length).toBeGreaterThan(5)
  })
})

describe('the SDK tells its caller the same', () => {
  const refused = vectors('envelopes').flatMap(({ title, input, expect: expected }) =>
    typeof expected === 'object' && expected.code !== 'invalid_json' && !/"id":null/.test(input)
      ? [{ title, draft: JSON.parse(input) as Draft, code: expected.code }]
      : [],
  )

  test.each(refused)('$title', async ({ draft, code }) => {
    await using space = await createTestSpace({ participants: { ana: ['*'] } })
    const ana = await space.join('ana')
    await expect(ana.send(draft)).rejects.toMatchObject({ code })
  })
})
