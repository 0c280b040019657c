import { HttpClient } from '@meup/agent-sdk/http'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { serveSpaceOverHttp } from '@meup/mcp-bridge/serve'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'

const token = 'token-of-this-server'

test('progress and log messages of a call reach the client that has made it, and no other', async () => {
  const space = await createTestSpace({
    participants: { desktop: ['*'], camera: ['*'] },
    mcp: { visibility: 'addressees' },
  })
  onTestFinished(() => space.close())
  const camera = await space.join('camera')
  camera.serve(async ({ payload }, _, notify) => {
    if (payload.method === 'tools/list')
      return { result: { tools: [{ name: 'capture', inputSchema: { type: 'object' } }] } }
    if (payload.method !== 'tools/call') return undefined
    notify({ method: 'notifications/progress', params: { progress: 1, message: 'painting' } })
    notify({ method: 'notifications/message', params: { level: 'info', logger: 'lens', data: 'loading' } })
    return { result: { content: [{ type: 'text', text: 'a picture' }] } }
  })
  const served = {
    space: await space.join('desktop'),
    http: new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' }),
  }
  const serving = await serveSpaceOverHttp(served, { port: 0, token })
  onTestFinished(() => serving.close())

  const enter = async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
    const logs: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params))
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(serving.url), { requestInit }))
    onTestFinished(() => client.close())
    return { client, logs }
  }
  const [one, other] = [await enter(), await enter()]
  const progress: unknown[] = []
  const result = await one.client.callTool(
    { name: 'camera__capture' },
    { onprogress: ({ message }) => progress.push(message) },
  )
  expect(result.content).toEqual([{ type: 'text', text: 'a picture' }])
  expect(progress).toEqual(['painting'])
  await expect.poll(() => one.logs).toEqual([{ level: 'info', logger: 'lens', data: 'loading' }])
  await other.client.ping()
  expect(other.logs).toEqual([])
})
