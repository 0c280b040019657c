import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  client,
  type McpServer,
  ndJsonStream,
  PROTOCOL_VERSION,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../packages/mcp-bridge/test/support/http-server.js'
import { temporaryFolder } from '../support/cli.js'
import { codingAgent, withAgent } from '../support/coding-agents/agents.js'
import { type AgentName, testedAgents } from '../support/coding-agents/install.js'
import { edit, type ModelRule, mcp, read, shell, write } from '../support/coding-agents/script.js'

interface Options {
  readonly model: readonly ModelRule[]
  readonly cwd: string
  /** Kind of the option with which the test answers all permission requests. */
  readonly answer: 'allow_once' | 'reject_once'
  readonly mcpServers?: McpServer[]
}

/** Starts an agent, sends one prompt, and returns its events. */
async function prompt(name: AgentName, { model, cwd, answer, mcpServers = [] }: Options) {
  const { command, args, env, mode } = await codingAgent(name, { model, home: temporaryFolder(), cwd })
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const closed = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(async () => {
    // Kills the process group, which includes child processes of the agent.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await closed
  })
  const said: Record<string, string> = {}
  const onUpdate = (update: SessionUpdate): void => {
    if (!('content' in update) || Array.isArray(update.content) || update.content?.type !== 'text') return
    said[update.sessionUpdate] = `${said[update.sessionUpdate] ?? ''}${update.content.text}`
  }
  let asked = false
  const app = client()
    .onNotification('session/update', ({ params }) => onUpdate(params.update))
    .onRequest('session/request_permission', ({ params: { options } }) => {
      asked = true
      const option = options.find(({ kind }) => kind === answer)
      if (option === undefined) throw new Error(`${name} does not offer ${answer}`)
      return { outcome: { outcome: 'selected', optionId: option.optionId } }
    })
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout))
  await app.connectWith(stream, async (agent) => {
    await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
    const { sessionId } = await agent.request('session/new', { cwd, mcpServers })
    if (mode !== undefined) await agent.request('session/set_mode', { sessionId, modeId: mode })
    await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Do it.' }] })
  })
  return { thoughts: said.agent_thought_chunk, text: said.agent_message_chunk, asked }
}

const runsCommand: ModelRule[] = [
  {
    when: ({ lastUserText, toolResults }) => lastUserText.includes('Do it.') && toolResults.length === 0,
    thought: 'A file is missing.',
    tool: shell('echo hi > out.txt'),
  },
  { when: ({ toolResults }) => toolResults.length > 0, text: 'That is all.' },
]

const steps = [
  read('there.txt'),
  edit('there.txt', 'before', 'after'),
  write('new.txt', 'first\nsecond\n'),
  mcp('space', 'log', { data: 'hello' }),
]
const usesTools: ModelRule[] = [
  ...steps.map((tool, index) => ({
    when: ({ toolResults }: { toolResults: readonly string[] }) => toolResults.length === index,
    tool,
  })),
  { when: ({ toolResults }) => toolResults.at(-1)?.includes('logged') === true, text: 'All is done.' },
]

describe.for(testedAgents)('%s', (name) => {
  test(
    'thinks, asks, runs a command that is allowed, and answers',
    withAgent(name, async () => {
      const cwd = temporaryFolder()
      const { thoughts, text, asked } = await prompt(name, { model: runsCommand, cwd, answer: 'allow_once' })
      expect(thoughts).toContain('A file is missing.')
      expect(asked).toBe(true)
      expect(readFileSync(join(cwd, 'out.txt'), 'utf8')).toBe('hi\n')
      expect(text).toContain('That is all.')
    }),
  )

  test(
    'asks, and does not run a command that is rejected',
    withAgent(name, async () => {
      const cwd = temporaryFolder()
      const { asked } = await prompt(name, { model: runsCommand, cwd, answer: 'reject_once' })
      expect(asked).toBe(true)
      expect(existsSync(join(cwd, 'out.txt'))).toBe(false)
    }),
  )

  test(
    'reads, edits and writes files, and calls a tool of an MCP server, as the script of its model says',
    withAgent(name, async () => {
      const cwd = temporaryFolder({ 'there.txt': 'before\n' })
      const { url } = await serveHttp('sessions')
      const mcpServers: McpServer[] = [{ type: 'http', name: 'space', url, headers: [] }]
      const { text } = await prompt(name, { model: usesTools, cwd, answer: 'allow_once', mcpServers })
      expect(text).toContain('All is done.')
      expect(readFileSync(join(cwd, 'there.txt'), 'utf8')).toBe('after\n')
      expect(readFileSync(join(cwd, 'new.txt'), 'utf8')).toBe('first\nsecond\n')
    }),
  )
})
