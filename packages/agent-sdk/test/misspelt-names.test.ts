import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, onTestFinished, test } from 'vitest'

async function here() {
  const space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'], files: ['*'] } })
  onTestFinished(() => space.close())
  const [bot, files] = [await space.join('bot'), await space.join('files')]
  const text = { content: [{ type: 'text', text: 'what it holds' }] }
  files.tool('read_text_file', {}, () => 'what it holds')
  bot.tool('count_words', {}, () => text)
  return { bot, files, space }
}

test('a call of a misspelt tool names the nearest one, also in a run and of one of its own', async () => {
  const { bot } = await here()
  const meant = /Did you mean files\/read_text_file\?$/
  await expect(bot.call('files/read_tex_file')).rejects.toMatchObject({
    name: 'ToolError',
    message: expect.stringMatching(meant),
  })
  const run = await bot.reason('Hm')
  await expect(run.call('files/read_tex_file', {}, { why: 'to know' })).rejects.toThrow(meant)
  await expect(bot.call('me/count_word')).rejects.toThrow(/Did you mean me\/count_words\?$/)
})

test('a server that answers with a result is understood as well', async () => {
  const { bot, space } = await here()
  const server = await space.join('ana')
  server.serve(async ({ payload: { method } }) => {
    if (method === 'tools/list') return { result: { tools: [{ name: 'search', inputSchema: {} }] } }
    const text = 'MCP error -32602: Tool serch not found'
    return { result: { content: [{ type: 'text', text }], isError: true } }
  })
  await expect(bot.call('ana/serch')).rejects.toMatchObject({
    message: 'MCP error -32602: Tool serch not found. Did you mean ana/search?',
    result: { content: [{ type: 'text' }] },
  })
})

test('the failure of a tool that exists stays as it is', async () => {
  const { bot, files } = await here()
  files.tool('fail', {}, () => Promise.reject(new Error('fail: no such file, not found')))
  await expect(bot.call('files/fail')).rejects.toThrow(/^fail: no such file, not found$/)
})

test('an unknown participant is refused with the nearest one', async () => {
  const { bot } = await here()
  const refusal = { code: 'participant_not_found', details: { path: '/to/0' } }
  await expect(bot.call('file/read_text_file')).rejects.toMatchObject({
    ...refusal,
    message: expect.stringMatching(/no participant file\b.* Did you mean files\?$/),
  })
  await expect(bot.chat('well?', { mention: ['ana', 'filse'] })).rejects.toThrow(/Did you mean files\?$/)
  await expect(bot.chat('well?', { to: ['nobody'] })).rejects.toThrow(
    /^(?!.*Did you mean).*no participant nobody\b/,
  )
})
