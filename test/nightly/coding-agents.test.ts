import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinCodingAgent } from '@meup/acp'
import { connect } from '@meup/agent-sdk'
import { createGateway, memoryStore, serve, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { codingAgent, withAgent } from '../support/coding-agents/agents.js'
import { type AgentName, testedAgents } from '../support/coding-agents/install.js'
import { edit, type ModelRule, read, shell } from '../support/coding-agents/script.js'

/** Name of each agent's shell tool, and of the argument that takes the command line. */
const shells: Record<AgentName, readonly [tool: string, field: string]> = {
  opencode: ['bash', 'command'],
  gemini: ['run_shell_command', 'title'],
  codex: ['exec_command', 'command'],
  claude: ['Bash', 'command'],
  copilot: ['execute', 'command'],
}

/** Names of the tasks. Each agent runs one command per task. */
const things = ['allowed', 'approved', 'rejected', 'expired', 'taken-back']
const model: ModelRule[] = [
  ...things.map((thing) => ({
    when: ({ lastUserText, toolResults }: { lastUserText: string; toolResults: readonly string[] }) =>
      lastUserText.includes(`Make ${thing}.`) && toolResults.length === 0,
    thought: `I think about ${thing}.`,
    text: `I make ${thing}.`,
    tool: shell(`echo done > ${thing}.txt`),
  })),
  { when: () => true, text: 'That is all.' },
]

/** Opens a space with ana, who may do and read everything, and a coder with these capabilities. */
async function openSpace(coder: readonly Capability[]) {
  const config = testSpaceConfig({ participants: { ana: ['*', 'observe.targeted'], coder } })
  const tokens = { ana: testToken('ana'), coder: testToken('coder') }
  const gateway = await createGateway({
    spaces: [config],
    store: memoryStore(),
    authenticator: tokenAuthenticator({ [config.name]: tokens }),
  })
  const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(close)
  const where = { url, space: config.name }
  const ana = await connect({ ...where, token: tokens.ana })
  onTestFinished(() => ana.close())
  const log: AnyEnvelope[] = []
  ana.on('envelope', (envelope) => log.push(envelope))
  const connectCoder = () => connect({ ...where, token: tokens.coder })
  return { ana, log, url, space: config.name, token: tokens.ana, connectCoder }
}

describe.for(testedAgents)('%s in a space', (name) => {
  test(
    'thinks visibly, and does what the space allows, and nothing else',
    { timeout: 300_000 },
    withAgent(name, async () => {
      const [tool, field] = shells[name]
      const coder: Capability[] = [
        ...['chat', 'reasoning.*', Kind.mcpProposal, Kind.participantStatus],
        { tool: `coder/${tool}`, arguments: { [field]: 'echo done > allowed.txt' } },
      ]
      const { ana, log, url, space, token, connectCoder } = await openSpace(coder)
      const cwd = temporaryFolder()
      const agent = await joinCodingAgent({
        ...(await codingAgent(name, { model, home: temporaryFolder(), cwd })),
        cwd,
        approvalMs: 5000,
        connect: connectCoder,
      })
      onTestFinished(() => agent.close())
      const has = (thing: string): boolean => existsSync(join(cwd, `${thing}.txt`))
      const ask = async (thing: string): Promise<string> =>
        (await ana.ask(`Make ${thing}.`, { to: ['coder'], timeoutMs: 120_000 })).text

      await ask('allowed')
      expect(has('allowed')).toBe(true)
      expect(log.filter(({ kind }) => kind === Kind.mcpProposal)).toEqual([])
      expect(JSON.stringify(log)).toContain('I think about allowed.')

      ana.proposals.once('proposal', ({ id }) => void ana.proposals.approve(id, { timeoutMs: 60_000 }))
      await ask('approved')
      expect(has('approved')).toBe(true)

      const reason = { reason: 'policy', message: 'not on a Thursday' }
      ana.proposals.once('proposal', ({ id }) => void ana.proposals.reject(id, reason))
      await ask('rejected')
      expect(has('rejected')).toBe(false)

      await ask('expired')
      expect(has('expired')).toBe(false)

      const asked = new Promise<void>((resolve) => ana.proposals.once('proposal', () => resolve()))
      const { id } = await ana.chat('Make taken-back.', { to: ['coder'] })
      await asked
      await ana.send({ kind: Kind.chatCancel, to: ['coder'], correlationId: id })
      await expect.poll(() => log.filter(({ kind }) => kind === Kind.mcpWithdraw).length).toBeGreaterThan(1)
      expect(has('taken-back')).toBe(false)
      expect(ana.proposals.list()).toEqual([])

      const calls = log.filter(({ kind, to }) => kind === Kind.mcpRequest && to?.includes('coder'))
      expect(calls.map(({ from, payload }) => [from, Object(payload).params.name])).toEqual([
        ['coder', tool],
        ['ana', tool],
      ])
      const headers = { authorization: `Bearer ${token}` }
      const read = async (path: string): Promise<string> =>
        (await fetch(`${url}/spaces/${space}/${path}`, { headers })).text()
      const markdown = await read('audit/export?format=markdown')
      const contents = [
        'Make approved.',
        'I think about approved.',
        'echo done > approved.txt',
        'not on a Thursday',
      ]
      for (const each of contents) expect(markdown).toContain(each)
      const { turns } = JSON.parse(await read(`turns?thread_id=${space}/coder`))
      expect(turns).toHaveLength(5)
      const { steps } = JSON.parse(await read('audit?phase=execute'))
      expect(steps).toHaveLength(2)
    }),
  )
})

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const edits: ModelRule[] = [
  {
    when: ({ toolResults }) => toolResults.at(-1)?.includes('before') === true,
    tool: edit('there.txt', 'before', 'after'),
  },
  { when: ({ toolResults }) => toolResults.at(-1)?.includes('Edit applied') === true, tool: read('dot.png') },
  { when: ({ lastUserText }) => lastUserText.includes('Change it.'), tool: read('there.txt') },
  { when: () => true, text: 'All is changed.' },
]

test(
  'opencode has an edit approved as a change, and shows a picture as one',
  { timeout: 300_000 },
  withAgent('opencode', async () => {
    const capabilities: Capability[] = [
      ...['chat', 'reasoning.*', Kind.mcpProposal, Kind.participantStatus],
      { tool: 'coder/read' },
    ]
    const { ana, log, connectCoder } = await openSpace(capabilities)
    const cwd = temporaryFolder({ 'there.txt': 'one\nbefore\ntwo\n' })
    writeFileSync(join(cwd, 'dot.png'), Buffer.from(pixel, 'base64'))
    const agent = await joinCodingAgent({
      ...(await codingAgent('opencode', { model: edits, home: temporaryFolder(), cwd })),
      cwd,
      connect: connectCoder,
    })
    onTestFinished(() => agent.close())
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id, { timeoutMs: 60_000 }))
    const asked = await ana.ask('Change it.', { to: ['coder'], timeoutMs: 120_000 })
    expect(asked.text).toContain('All is changed.')
    expect(readFileSync(join(cwd, 'there.txt'), 'utf8')).toBe('one\nafter\ntwo\n')
    const proposal = log.find(({ kind }) => kind === Kind.mcpProposal)
    expect(Object(proposal?.payload).params).toMatchObject({
      name: 'edit',
      _meta: { kind: 'edit' },
      arguments: { diffs: [{ oldText: 'one\nbefore\ntwo\n', newText: 'one\nafter\ntwo\n' }] },
    })
    const results = log.filter(({ kind }) => kind === Kind.mcpResponse)
    const pictures = results.flatMap(({ payload }) => Object(payload).result?.content ?? [])
    expect(pictures).toContainEqual({ type: 'image', mimeType: 'image/png', data: pixel })
  }),
)
