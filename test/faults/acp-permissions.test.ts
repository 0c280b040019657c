import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CodingAgent, joinCodingAgent } from '@meup/acp'
import { type AnyEnvelope, connect } from '@meup/agent-sdk'
import { createGateway, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { correlations, Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { times } from '../support/soak.js'

const agentScript = fileURLToPath(
  new URL('../../packages/acp/test/fixtures/scripted-agent.mjs', import.meta.url),
)
const [prompts, permissionsEach] = [times(6, 50), 20]
const [gatewayRestarts, bridgeRestarts] = [times(3, 20), times(1, 5)]

test(`${prompts * permissionsEach} permissions end once each, while the gateway and the bridge are started again`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meup-permissions-'))
  const notes = join(folder, 'notes')
  const config = testSpaceConfig({
    participants: {
      ana: ['*', 'observe.targeted'],
      coder: ['chat', 'reasoning.*', Kind.mcpProposal, { tool: 'coder/free' }],
    },
  })
  const tokens = { ana: testToken('ana'), coder: testToken('coder') }
  let stop = async (): Promise<void> => {}
  const start = async (port: number): Promise<string> => {
    const store = await sqliteStore({ path: join(folder, 'space.db') })
    const authenticator = tokenAuthenticator({ [config.name]: tokens })
    const gateway = await createGateway({ spaces: [config], store, authenticator })
    const served = await serve({ gateway, host: '127.0.0.1', port })
    stop = () => served.close()
    return served.url
  }
  const url = await start(0)
  const port = Number(new URL(url).port)
  onTestFinished(() => stop())
  const where = { url, space: config.name }

  const ana = await connect({ ...where, token: tokens.ana })
  onTestFinished(() => ana.close())
  const log: AnyEnvelope[] = []
  ana.on('envelope', (envelope) => log.push(envelope))
  // Approves seven of ten proposals, rejects two, and ignores one. Failures do not matter: the gateway may be restarting.
  let turn = 0
  ana.proposals.on('proposal', ({ id }) => {
    const choice = turn++ % 10
    if (choice === 9) return
    const decided =
      choice > 6
        ? ana.proposals.reject(id, { reason: 'policy' })
        : ana.proposals.approve(id, { timeoutMs: 60_000 })
    decided.catch(() => {})
  })

  const joinCoder = (): Promise<CodingAgent> =>
    joinCodingAgent({
      command: process.execPath,
      args: [agentScript, '{}'],
      env: { PATH: process.env.PATH ?? '', NOTES: notes },
      cwd: folder,
      approvalMs: 500,
      connect: () => connect({ ...where, token: tokens.coder, tail: 1000 }),
    })
  let coder = await joinCoder()
  onTestFinished(() => coder.close())

  /**
   * Makes the acts of the coding agent for a prompt: permissions that it requests one after another or at once, some of which
   * need no decision.
   */
  const script = (prompt: number): string => {
    const ids = Array.from({ length: permissionsEach }, (_, each) => `p${prompt}-${each}`)
    const ask = (id: string, at: number): unknown[] => [
      'ask',
      { toolCallId: id, name: at % 7 === 3 ? 'free' : 'shell', title: id, rawInput: { command: `do ${id}` } },
    ]
    const done = (id: string) => ['when', 'yes', [['progress', { toolCallId: id, status: 'completed' }]]]
    const whole = ids.map((id, at) => [ask(id, at), done(id)])
    return JSON.stringify([...whole.slice(0, 2).flat(), ['parallel', ...whole.slice(2)], ['text', 'Done.']])
  }
  for (let prompt = 0; prompt < prompts; prompt++) {
    const answered = ana.ask(script(prompt), { to: ['coder'], timeoutMs: 60_000 }).catch(() => undefined)
    if (prompt % Math.floor(prompts / gatewayRestarts) === 1) {
      await stop()
      await start(port)
    }
    if (prompt % Math.floor(prompts / bridgeRestarts) === 3) {
      await expect.poll(() => log.some((each) => each.kind === Kind.mcpProposal && each.seq)).toBe(true)
      await coder.close()
      coder = await joinCoder()
    } else await answered
  }
  await coder.close()

  const auditor = await connect({ ...where, token: tokens.ana, after: 0 })
  onTestFinished(() => auditor.close())
  expect(auditor.welcome.proposals).toEqual([])
  const all: AnyEnvelope[] = []
  const { head } = auditor.welcome.space
  for await (const envelope of auditor.envelopes()) {
    all.push(envelope)
    if ((envelope.seq ?? 0) >= head) break
  }
  const asked = all.filter((each) => each.kind === Kind.mcpProposal)
  const ends = (id: string, kinds: readonly string[]): AnyEnvelope[] =>
    all.filter((each) => kinds.includes(each.kind) && correlations(each).includes(id))
  for (const { id, payload } of asked) {
    const fulfilled = ends(id, [Kind.mcpRequest])
    const closed = ends(id, [Kind.mcpWithdraw])
    expect(fulfilled.length + Math.min(closed.length, 1), `the ends of ${id}`).toBeLessThanOrEqual(1)
    for (const request of fulfilled) {
      expect(Object(request.payload).params).toEqual(Object(payload).params)
      expect(ends(request.id, [Kind.mcpResponse]), `the answers of ${request.id}`).toHaveLength(1)
    }
  }
  // The agent was allowed only the calls that the space allowed, with the same arguments.
  const allowed = new Set(
    all
      .filter((each) => each.kind === Kind.mcpRequest && each.to?.includes('coder'))
      .map(({ payload }) => String(Object(payload).params.arguments.command)),
  )
  const outcomes = readFileSync(notes, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((note) => note.asked !== undefined)
  const ids = outcomes.map((note) => note.asked as string)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { asked: id, outcome } of outcomes)
    expect(allowed.has(`do ${id}`), id).toBe(outcome.optionId === 'yes')
  expect(outcomes.length).toBeGreaterThanOrEqual((prompts - 2 * bridgeRestarts) * permissionsEach)
  for (const option of ['yes', 'no', undefined])
    expect(outcomes.filter(({ outcome }) => outcome.optionId === option).length).toBeGreaterThan(prompts / 2)
})
