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

/** The participants in the vectors besides `ana`, who sends and may do everything. */
const others = ['a', 'b.2', 'calc', ...Array.from({ length: 64 }, (_, index) => `p${index + 1}`)]
const rate = { perSecond: 1e6, burst: 1e6 }

/** Values for fields that a kind requires. */
const filledIn = { to: ['calc'], correlationId: 'q', context: 'free' }

describe('the gateway answers as the vectors say', () => {
  const heard: string[] = []
  let line: { send(text: string): void }
  let close = async (): Promise<void> => {}
  let fences = 0

  beforeAll(async () => {
    const participants = { ...Object.fromEntries(others.map((id) => [id, []])), ana: ['*'] }
    const rates = { chat: rate, reasoning: rate, mcp: rate, control: rate, other: rate }
    const gateway = await createTestGateway({ participants, limits: { rates } })
    const knock = { space: 'test', token: testToken('ana') }
    line = await dialInMemory(gateway, knock, {
      message: (text) => heard.push(text),
      close: () => {},
    })
    close = () => gateway.close()
  })
  afterAll(() => close())

  /** Sends a frame. Returns the error, or the echo. */
  async function answerTo(frame: string): Promise<{ error?: ErrorPayload; echo?: string }> {
    heard.length = 0
    const id = `fence-${fences++}`
    line.send(frame)
    line.send(JSON.stringify({ id, kind: 'test.fence' }))
    await expect.poll(() => heard.some((text) => read(text).id === id), { interval: 1 }).toBe(true)
    const error = heard.map(read).find(({ kind }) => kind === 'system.error')
    const echo = heard.find((text) => read(text).from === 'ana' && read(text).id !== id)
    return { ...(error && { error: error.payload as ErrorPayload }), ...(echo !== undefined && { echo }) }
  }

  test.each(vectors('envelopes'))('envelopes: $title', async ({ input, expect: expected }) => {
    const { error, echo } = await answerTo(input)
    if (expected === 'ok') expect(error ?? typeof echo).toBe('string')
    else expect({ code: error?.code, path: error?.details?.path }).toMatchObject({ ...expected })
  })

  test.each(vectors('aliases'))('aliases: $title', async ({ input, expect: expected }) => {
    const { error, echo = '{}' } = await answerTo(input)
    if ('code' in expected) {
      expect({ code: error?.code, path: error?.details?.path }).toEqual(expected)
    } else {
      expect(read(echo)).toMatchObject(expected.envelope)
      expect(echo).toContain(`"payload":${expected.payload}`)
    }
  })

  test.each(vectors('payloads'))('payloads: $title', async ({ input, expect: expected, refusal }) => {
    const required = getKindRule(input.kind)?.requires ?? []
    const fields = Object.fromEntries(
      required.map((field) => [field, filledIn[field as keyof typeof filledIn]]),
    )
    const { error } = await answerTo(JSON.stringify({ ...input, ...fields }))
    if (expected === 'ok') expect(error?.code).toBe(refusal)
    else
      expect({ code: error?.code, path: error?.details?.path }).toEqual({
        code: 'invalid_payload',
        ...expected,
      })
  })

  test.each(vectors('kinds'))('kinds: $title', async ({ input: kind, expect: expected }) => {
    const { refused, requires = [], takesRationale = false } = expected
    const codeOf = async (fields: object): Promise<string | undefined> =>
      (await answerTo(JSON.stringify({ kind, ...fields }))).error?.code
    if (refused !== undefined) return expect(await codeOf(filledIn)).toBe(refused)
    for (const field of requires) {
      const { [field as keyof typeof filledIn]: _, ...lacking } = filledIn
      expect(await codeOf(lacking)).toBe(field === 'context' ? 'invalid_context' : 'invalid_envelope')
    }
    const withRationale = await codeOf({ ...filledIn, rationale: 'why' })
    if (takesRationale) expect(withRationale).not.toBe('invalid_envelope')
    else expect(withRationale).toBe('invalid_envelope')
  })
})

const read = (text: string): Envelope => JSON.parse(text) as Envelope

describe('the gateway decides as the vectors say', () => {
  /** Sends an envelope as a participant. Returns the code of the refusal; `undefined` = accepted. */
  async function refusalOf(capabilities: Capability[], draft: Draft): Promise<string | undefined> {
    const addressees = Object.fromEntries((draft.to ?? []).map((id) => [id, []]))
    await using space = await createTestSpace({ participants: { ...addressees, ana: capabilities } })
    const ana = await space.join('ana')
    const code = ana.send(draft).then(
      () => undefined,
      (error: ProtocolError) => error.code,
    )
    if (!getKindRule(draft.kind)?.live) return await code
    // The gateway does not acknowledge live envelopes: one is accepted if no error precedes the answer to a later subscription.
    return await Promise.race([code, ana.subscribe({}).then(() => undefined)])
  }

  const decided = vectors('capabilities').filter(
    (vector) => typeof vector.expect === 'boolean' && vector.observable !== false,
  )
  test.each(decided)('capabilities: $title', async ({ input, expect: allowed }) => {
    const code = await refusalOf(input.capabilities as Capability[], input.envelope as Draft)
    expect(code).toBe(allowed ? undefined : 'capability_violation')
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
