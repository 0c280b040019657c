import { createTestSpace } from '@meup/agent-sdk/testing'
import type { McpResponsePayload } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { Approvals } from '../src/approvals.js'

/** The logged response to a call of an agent's own tool with this result. */
async function logged(result: McpResponsePayload): Promise<object> {
  const space = await createTestSpace({ participants: { ana: ['*'], coder: ['*'] } })
  onTestFinished(() => space.close())
  const [ana, coder] = [await space.join('ana'), await space.join('coder')]
  const answered = new Promise<object>((resolve) =>
    ana.on('envelope', ({ kind, payload }) => kind === 'mcp.response' && resolve(payload)),
  )
  const call = { name: 'read', arguments: {}, meta: {}, context: 'run', result: Promise.resolve(result) }
  await new Approvals(coder, 1000).record(call)
  return answered
}

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

test('half a character in a result is replaced, and the result says so', async () => {
  expect(await logged({ result: { content: [{ type: 'text', text: 'a \ud83d' }] } })).toMatchObject({
    result: {
      content: [{ type: 'text', text: 'a \ufffd' }],
      _meta: { 'meup/changed': 'characters that are not Unicode were replaced' },
    },
  })
})

test('a result that cannot be sent is an error, which says that the tool has run', async () => {
  expect(await logged({ result: { content: nested(40) } })).toMatchObject({
    error: { message: expect.stringMatching(/^the tool has run; its result cannot be sent: .*nested/) },
  })
  const large = { content: [{ type: 'text', text: 'x'.repeat(5 * 1024 * 1024) }] }
  expect(await logged({ result: large })).toMatchObject({
    result: {
      isError: true,
      content: [{ text: expect.stringMatching(/^The tool has run\. Its result has 52\d+ bytes/) }],
    },
  })
})
