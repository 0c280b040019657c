import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { repositoryRoot } from '../../test/support/files.js'
import { median } from '../report/section.js'
import { Cleanup } from '../support/cleanup.js'
import type { QuickOptions } from './figures.js'

const program = join(repositoryRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const env = { PATH: process.env.PATH ?? '' }
const server = { command: process.execPath, args: [program, 'stdio'], env }
const echo = { message: 'the report of the tests' }

/** Compares calls of a public server's tool: by its own MCP client, and through a space, over sockets. */
export async function mcpCall({ rounds, smoke }: QuickOptions): Promise<number[]> {
  const calls = smoke ? 5 : 100
  await using cleanup = new Cleanup()
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }))
  cleanup.defer(() => client.close())

  const participants = { ana: { kind: 'human', capabilities: ['*'] }, everything: ['mcp.response'] }
  const { url, close } = await serve({
    gateway: await createTestGateway({ participants }),
    host: '127.0.0.1',
    port: 0,
  })
  cleanup.defer(close)
  const enter = (id: string) => connect({ url, space: 'test', token: testToken(id) })
  const bridge = await bridgeMcpServer({ name: 'everything', ...server, connect: () => enter('everything') })
  cleanup.defer(() => bridge.close())
  const ana = await enter('ana')
  cleanup.defer(() => ana.close())

  const direct = () => client.callTool({ name: 'echo', arguments: echo })
  const bridged = () => ana.call('everything/echo', echo)
  const ratios: number[] = []
  // The first round warms up and is not counted.
  for (let round = -1; round < rounds; round++) {
    const ratio = (await timeOf(direct, calls)) / (await timeOf(bridged, calls))
    if (round >= 0) ratios.push(ratio)
  }
  return ratios
}

/** Returns the median milliseconds of `count` calls. */
async function timeOf(call: () => Promise<unknown>, count: number): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const begin = performance.now()
    await call()
    times.push(performance.now() - begin)
  }
  return median(times)
}
