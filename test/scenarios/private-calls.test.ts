import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { dialWs } from '@meup/agent-sdk/internal'
import type { McpRequestPayload } from '@meup/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoInMemory, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { openClient } from '../support/mcp-clients.js'

vi.setConfig({ testTimeout: 120_000 })

const serverFiles = join(repositoryRoot, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
const camera = join(repositoryRoot, 'packages/mcp-bridge/test/fixtures/camera-server.mjs')
const config = `${demoInMemory}mcp: { visibility: addressees }
participants:
  ana: { kind: human, capabilities: [chat, mcp.request] }
  desktop: { kind: human, capabilities: [chat, mcp.request] }
  eve: { kind: human, capabilities: ["*"] }
  files: { kind: mcp, command: node, args: [${JSON.stringify(serverFiles)}, "."] }
  camera: { kind: mcp, command: node, args: [${JSON.stringify(camera)}] }
`

/** Connects a participant, and records everything that it receives, byte by byte. */
async function record(url: string, token: string) {
  let frames = ''
  const message = (text: string): void => {
    frames += text
  }
  const line = await dialWs({ url, space: 'demo', token }, { message, close: () => {} })
  onTestFinished(() => line.close(1000, ''))
  return { until: (text: string) => expect.poll(() => frames).toContain(text), all: () => frames }
}

test('a third participant receives no byte of private calls to real servers, notifications included', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  writeFileSync(join(cwd, 'diary.txt'), 'the diary of ana: secret-4711')
  const { url } = await startMeup('up', cwd)
  const ana = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['files', 'camera'], { timeoutMs: 30_000 })
  const recorded = await record(url, readFileSync(join(cwd, '.meup/tokens/eve'), 'utf8').trim())

  const { text } = await ana.call('files/read_text_file', { path: join(cwd, 'diary.txt') })
  expect(text).toContain('secret-4711')

  const notifications: McpRequestPayload[] = []
  const progress: string[] = []
  const shot = await ana.call(
    'camera/capture',
    { page: 'private-page', bytes: 3_000_000 },
    {
      onNotification: (notification) => notifications.push(notification),
      onProgress: ({ message = '' }) => progress.push(message),
    },
  )
  expect(shot.content[0]).toMatchObject({ type: 'image', data: 'A'.repeat(3_000_000) })
  expect(shot.text).toBe('of private-page')
  const logged = notifications.flatMap(({ params }) => String(params?.data).split('\n'))
  expect(logged).toEqual([1, 2, 3].map((n) => `loading private-page: ${n} of 3`))
  expect(progress).toContain('painting private-page')

  // An MCP client that uses the space as its server gets the same image and the same progress.
  const desktop = await openClient('legacy, stdio', cwd, 'desktop')
  onTestFinished(() => desktop.close())
  const call = { page: 'desk-page', bytes: 3_000_000 }
  const reports: (string | undefined)[] = []
  const options = { onprogress: ({ message }: { message?: string | undefined }) => reports.push(message) }
  const relayed = await desktop.call('camera__capture', call, options)
  expect(relayed.content[0]).toMatchObject({ type: 'image', data: 'A'.repeat(3_000_000) })
  expect(reports).toContain('painting desk-page')
  // The error names the limit of the space; without it, the result would just be missing.
  const refused = await desktop.call('camera__capture', { ...call, bytes: 5_000_000 })
  expect(refused.isError).toBe(true)
  expect(refused.content[0]?.text).toMatch(
    /^The tool has run\. Its result has 5\d{6} bytes .*\n\nof desk-page$/s,
  )

  await ana.chat('the end')
  await recorded.until('the end')
  for (const word of [
    'secret-4711',
    'diary',
    'private-page',
    'desk-page',
    'AAAAAAAA',
    'capture',
    'notifications/message',
    'notifications/progress',
  ]) {
    expect(recorded.all()).not.toContain(word)
  }
})
