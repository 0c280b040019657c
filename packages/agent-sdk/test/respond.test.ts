import type { ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test } from 'vitest'

const participants = { ana: ['*'], files: ['*'] }

const catchFailure = (work: Promise<unknown>): Promise<ToolError> =>
  work.then(
    () => expect.unreachable('it was answered'),
    (error: ToolError) => error,
  )

describe('an answer that cannot be sent', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const key = 'k'.repeat(3000)

  test.each([
    ['holds what JSON does not', [{ type: 'text', text: 1n }], /BigInt/],
    ['holds itself', [circle], /circular/],
    [
      'is refused in many words',
      [JSON.parse(`{"${key}": {"__proto__": 1}}`) as object],
      /^the tool has run; its result cannot be sent: a key __proto__ at \/payload/,
    ],
  ])('because it %s is an error, and a short one', async (_, content, reason) => {
    await using space = await createTestSpace({ participants })
    const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
    files.tool('odd', {}, () => ({ content })).tool('fine', {}, () => 'fine')
    const error = await catchFailure(ana.call('files/odd'))
    expect(error).toMatchObject({ name: 'ToolError', code: -32603, message: expect.stringMatching(reason) })
    expect(error.message.length).toBeLessThan(1000)
    expect((await ana.call('files/fine')).text).toBe('fine')
  })

  test('because others went before it is sent when there is room again', async () => {
    await using space = await createTestSpace({ participants })
    const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
    files.tool('large', {}, () => 'x'.repeat(250 * 1024))
    const answers = await Promise.all(Array.from({ length: 9 }, () => ana.call('files/large')))
    expect(answers.map(({ text }) => text.length)).toEqual(answers.map(() => 250 * 1024))
  })
})
