import { ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fixtures } from './support/processes.js'

/** Ana, and a server behind the real bridge. */
async function bridged(program: 'rawServer' | 'screenServer') {
  const space = await createTestSpace({ participants: { ana: ['*'], web: ['mcp.*'] } })
  const ana = await space.join('ana')
  const heard: AnyEnvelope[] = []
  ana.on('envelope', (envelope) => heard.push(envelope))
  const bridge = await bridgeMcpServer({
    connect: () => space.join('web'),
    name: 'web',
    command: process.execPath,
    args: [fixtures[program]],
    env: {},
  })
  onTestFinished(async () => {
    await bridge.close()
    await space.close()
  })
  return { ana, heard }
}

const png = /^iVBORw0KGgo/

/** As a server sends it, whatever it is. */
const line = (result: object) => ({
  server: 'rawServer' as const,
  tool: 'line',
  input: { line: `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(result)}}` },
})

describe('a result has parts', () => {
  test('as MCP has them; the text is that of its texts', async () => {
    const { ana } = await bridged('screenServer')
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
    const { ana, heard } = await bridged('screenServer')
    const { id } = await ana.call('web/screenshot')
    expect(heard.find((each) => each.id === id)).toMatchObject({ kind: 'mcp.response', from: 'web' })
  })

  test('one of a tool that failed, too', async () => {
    const { ana } = await bridged('screenServer')
    const error = await ana.call('web/crash').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ToolError)
    expect(error).toMatchObject({
      message: 'the page broke',
      result: { parts: [{ type: 'text' }, { type: 'image' }] },
    })
  })

  test('what is no part is in the content alone', async () => {
    const { ana } = await bridged('rawServer')
    const content = [
      { type: 'hologram', data: [1] },
      { type: 'image', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a' } },
      { type: 'resource_link' },
      { type: 'text' },
      {},
    ]
    const { tool, input } = line({ content: [...content, null, 5, 'text', [1]] })
    expect(await ana.call(`web/${tool}`, input)).toMatchObject({ text: '', parts: [], content })
  })
})
