import { type AgentOptions, ToolError } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { bridged } from './support/bridged.js'

type Output = { type: string; value: unknown }
const png = /^iVBORw0KGgo/

/** Lets a model make a call. Returns the result in its prompt, and the envelope of the response. */
async function shown(
  call: { tool: string; input?: object; server?: 'rawServer' | 'screenServer' },
  { provider = 'anthropic.messages', ...options }: Partial<AgentOptions> & { provider?: string } = {},
) {
  const { ana, bot, heard } = await bridged({ web: { program: call.server ?? 'screenServer' } })
  const known = [{ participant: 'web', name: call.tool, inputSchema: { type: 'object' } }]
  const model = scriptedModel(
    [[{ call: `web__${call.tool}`, input: call.input ?? {} }], [{ text: 'I see.' }]],
    {
      provider,
    },
  )
  void bot.agent({ model, tools: known, ...options })
  expect((await ana.ask('Look.', { to: ['bot'] })).text).toBe('I see.')
  const [result] = model.requests[1]?.prompt.at(-1)?.content ?? []
  const { output } = result as { output: Output }
  const { id = '', payload } =
    heard.find((each) => each.kind === Kind.mcpResponse && each.from === 'web') ?? {}
  return { output, id, payload }
}

/** A call whose result is sent as given, valid or not. */
const line = (result: object) => ({
  server: 'rawServer' as const,
  tool: 'line',
  input: { line: `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(result)}}` },
})

describe('a result has parts', () => {
  test('as MCP has them; the text is that of its texts', async () => {
    const { ana } = await bridged({ web: { program: 'screenServer' } })
    const { text, parts } = await ana.call('web/screenshot')
    expect(text).toBe('before\nafter')
    expect(parts).toEqual([
      { type: 'text', text: 'before' },
      { type: 'image', data: expect.stringMatching(png), mimeType: 'image/png' },
      { type: 'text', text: 'after' },
    ])
    expect((await ana.call('web/report')).parts).toMatchObject([
      { type: 'resource', resource: { uri: 'file:///notes.txt', text: 'all is well' } },
      { type: 'resource', resource: { uri: 'file:///report.pdf', blob: expect.any(String) } },
      { type: 'link', uri: 'file:///archive.zip', name: 'archive', size: 5_242_880 },
    ])
    expect((await ana.call('web/speak')).parts).toMatchObject([{ type: 'audio', mimeType: 'audio/wav' }])
    expect(await ana.call('web/weather')).toMatchObject({ text: '', parts: [], data: { celsius: 21 } })
  })

  test('and is the result of an envelope', async () => {
    const { ana, heard } = await bridged({ web: { program: 'screenServer' } })
    const { id } = await ana.call('web/screenshot')
    expect(heard.find((each) => each.id === id)).toMatchObject({ kind: 'mcp.response', from: 'web' })
  })

  test('one of a tool that failed, too', async () => {
    const { ana } = await bridged({ web: { program: 'screenServer' } })
    const error = await ana.call('web/crash').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ToolError)
    expect(error).toMatchObject({
      message: 'the page broke',
      result: { parts: [{ type: 'text' }, { type: 'image' }] },
    })
  })

  test('what is no part is in the content alone', async () => {
    const { ana } = await bridged({ web: { program: 'rawServer' } })
    const content = [
      { type: 'hologram', data: [1] },
      { type: 'image', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a' } },
      { type: 'resource_link' },
      { type: 'text' },
      {},
    ]
    const { tool, input } = line({ content: [...content, null, 5, [1]] })
    expect(await ana.call(`web/${tool}`, input)).toMatchObject({ text: '', parts: [], content })
  })
})

describe('a model is shown', () => {
  test.for(['anthropic.messages', 'openai.responses', 'google.generative-ai', 'amazon-bedrock'])(
    'the very bytes of an image, by %s',
    async (provider) => {
      const { output, payload } = await shown({ tool: 'screenshot' }, { provider })
      const { data } = (payload as { result: { content: { data: string }[] } }).result.content[1] ?? {}
      expect(data).toMatch(png)
      expect(output).toMatchObject({
        type: 'content',
        value: [
          { type: 'text', text: 'before\n[image image/png, 135 bytes: follows]\nafter' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data } },
        ],
      })
    },
  )

  test('a line instead, where its provider takes no images', async () => {
    const { output, id } = await shown({ tool: 'screenshot' }, { provider: 'openai.chat' })
    const value = `before\n[image image/png, 135 bytes: not shown to this model; see envelope ${id}]\nafter`
    expect(output).toEqual({ type: 'text', value })
  })

  test.for([
    ['anthropic.messages', false, 'text'],
    ['openai.chat', true, 'content'],
  ] as const)('what the agent says it takes: %s, %s', async ([provider, showMedia, type]) => {
    expect((await shown({ tool: 'screenshot' }, { provider, showMedia })).output.type).toBe(type)
  })

  test('an image of 3 MB', async () => {
    const { output } = await shown({ tool: 'large' })
    const [{ text }, file] = output.value as [{ text: string }, { data: { data: string } }]
    expect(text).toBe('[image image/png, 2.9 MiB: follows]')
    expect(Buffer.from(file.data.data, 'base64').length).toBeGreaterThan(3_000_000)
  })

  test('that a tool failed, with its image', async () => {
    const { output } = await shown({ tool: 'crash' })
    expect(output.value).toMatchObject([
      { type: 'text', text: 'The tool failed.\nthe page broke\n[image image/png, 135 bytes: follows]' },
      { type: 'file' },
    ])
  })

  test('that a tool failed, with a line for its image', async () => {
    const { output, id } = await shown({ tool: 'crash' }, { provider: 'openai.chat' })
    const value = `the page broke\n[image image/png, 135 bytes: not shown to this model; see envelope ${id}]`
    expect(output).toEqual({ type: 'error-text', value })
  })

  test('resources and links', async () => {
    const { output } = await shown({ tool: 'report' })
    const text = [
      '[resource file:///notes.txt text/plain]',
      'all is well',
      '[resource file:///report.pdf application/pdf, 20 bytes: follows]',
      '[link archive file:///archive.zip, application/zip, 5.0 MiB, All of it]',
    ].join('\n')
    expect(output.value).toEqual([
      { type: 'text', text },
      {
        type: 'file',
        mediaType: 'application/pdf',
        data: { type: 'data', data: btoa('%PDF-1.7 of a report') },
      },
    ])
  })

  test('where sound is', async () => {
    const { output, id } = await shown({ tool: 'speak' })
    const value = `[audio audio/wav, 2 KiB: not shown to this model; see envelope ${id}]`
    expect(output).toEqual({ type: 'text', value })
  })

  test('structured content, where there is nothing else', async () => {
    expect((await shown({ tool: 'weather' })).output).toEqual({ type: 'text', value: '{"celsius":21}' })
  })
})

describe('bad results', () => {
  const image = (data: unknown) => ({ type: 'image', data, mimeType: 'image/png' })

  test.for<[string, unknown[], (id: string) => string]>([
    [
      'base64 that is none',
      [image('not at all!')],
      (id) => `[image image/png: not shown, it is not base64; see envelope ${id}]`,
    ],
    ['no bytes', [image('')], (id) => `[image image/png: not shown, it is not base64; see envelope ${id}]`],
    [
      'an image that is none',
      [image(btoa('<svg></svg>!'))],
      (id) => `[image image/png, 12 bytes: not shown to this model; see envelope ${id}]`,
    ],
    [
      'a resource without text or blob',
      [{ type: 'resource', resource: { uri: 'file:///a' } }],
      (id) => `[resource: not shown to this model; see envelope ${id}]`,
    ],
    [
      'an unknown type',
      [{ type: 'hologram\n', data: [1] }],
      (id) => `[hologram: not shown to this model; see envelope ${id}]`,
    ],
    [
      'no type',
      [{ type: 7 }],
      (id) => `[a block without a type: not shown to this model; see envelope ${id}]`,
    ],
    ['blocks that are none', [null, 5], () => 'Done; the tool gave back nothing.'],
    ['nothing', [], () => 'Done; the tool gave back nothing.'],
  ])('%s', async ([, content, expected]) => {
    const { output, id } = await shown(line({ content }))
    expect(output).toEqual({ type: 'text', value: expected(id) })
  })

  test('an image under another name is sent under its own', async () => {
    const { output } = await shown(line({ content: [{ ...image('/9j/4AAQ'), mimeType: 'image/png' }] }))
    expect(output.value).toMatchObject([{}, { type: 'file', mediaType: 'image/jpeg' }])
  })

  test('10,000 blocks: all texts, of the images the first 20', async () => {
    const { output } = await shown({ tool: 'many' }, { limits: { resultChars: 2000 } })
    const [{ text }, ...files] = output.value as [{ text: string }, ...unknown[]]
    expect(files).toHaveLength(20)
    expect(text).toMatch(/^0\n\[image image\/png, 135 bytes: follows\]\n1\n/)
    expect(text).toMatch(/4999\n\[image image\/png, 135 bytes: not shown, 20 others are; see envelope \S+\]$/)
    expect(text.length).toBeLessThan(2100)
  })
})

describe('a long result', () => {
  const long = 'x'.repeat(100_000) + 'y'.repeat(100_000)

  test('is cut in the middle, and says by how much', async () => {
    const { output, payload } = await shown(line({ content: [{ type: 'text', text: long }] }))
    const cut = `${'x'.repeat(32_768)}\n[… 134,464 characters left out …]\n${'y'.repeat(32_768)}`
    expect(output).toEqual({ type: 'text', value: cut })
    expect(payload).toMatchObject({ result: { content: [{ text: long }] } })
  })

  test('so is a failure', async () => {
    const result = { content: [{ type: 'text', text: long }], isError: true }
    const { output } = await shown(line(result), { limits: { resultChars: 10 } })
    expect(output).toEqual({ type: 'error-text', value: 'xxxxx\n[… 199,990 characters left out …]\nyyyyy' })
  })

  test.for([0, 1])('never within a character', async (offset) => {
    const text = 'x'.repeat(offset) + '😀'.repeat(100)
    const { output } = await shown(line({ content: [{ type: 'text', text }] }), {
      limits: { resultChars: 51 },
    })
    expect(String(output.value).isWellFormed()).toBe(true)
    expect(output.value).toMatch(/^x?😀+\n\[… 1\d\d characters left out …\]\n😀+$/u)
  })
})
