import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, onTestFinished, test } from 'vitest'

test.for([
  ['a thousand calls', 1000, {}],
  ['16 MiB of calls', 70, { text: 'x'.repeat(240_000) }],
] as const)(
  '%s of one asker may be open; what is more is answered with an error, others are served',
  async ([, times, args]) => {
    const space = await createTestSpace({ participants: { ana: ['*'], eve: ['*'], tools: ['*'] } })
    onTestFinished(() => space.close())
    const [ana, eve, tools] = [await space.join('ana'), await space.join('eve'), await space.join('tools')]
    tools.serve(async ({ from }) => (from === 'ana' ? new Promise(() => {}) : { result: { fine: true } }))
    const call = () =>
      ana.request('tools', 'tools/call', { name: 'wait', arguments: args }, { timeoutMs: 60_000 })
    for (let n = 0; n < times; n++) call().catch(() => {})
    await expect(call()).rejects.toMatchObject({ name: 'ToolError', code: -32000 })
    expect(await eve.request('tools', 'tools/call', { name: 'wait', arguments: args })).toEqual({
      fine: true,
    })
  },
)
