import type { Draft } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import type { Envelope, ErrorPayload } from '@meup/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { vectors } from '../../protocol/test/vectors.js'

/** What is wrong with a frame itself; everything else depends on the space. */
const frameCodes = ['invalid_json', 'invalid_envelope', 'unsupported_protocol']

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
