import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import type { AnyEnvelope, Capability } from '@meup/protocol'
import { onTestFinished } from 'vitest'
import { fixtures } from './processes.js'

interface Server {
  readonly program: 'rawServer' | 'screenServer'
  readonly env?: Record<string, string>
}

/** A space with ana, who receives everything, an agent `bot`, and MCP servers as participants. `servers`: by participant. */
export async function bridged(servers: Record<string, Server>, capabilities: readonly Capability[] = ['*']) {
  const names = Object.keys(servers)
  const seats = Object.fromEntries(names.map((name) => [name, { kind: 'mcp', capabilities: ['mcp.*'] }]))
  const space = await createTestSpace({ participants: { ana: ['*'], bot: capabilities, ...seats } })
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  const heard: AnyEnvelope[] = []
  ana.on('envelope', (envelope) => heard.push(envelope))
  onTestFinished(() => space.close())
  for (const [name, { program, env = {} }] of Object.entries(servers)) {
    const command = { name, command: process.execPath, args: [fixtures[program]], env }
    const bridge = await bridgeMcpServer({ connect: () => space.join(name), ...command })
    onTestFinished(() => bridge.close())
  }
  return { ana, bot, heard }
}
