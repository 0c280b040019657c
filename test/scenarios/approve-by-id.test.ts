import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { serveSpaceOverHttp } from '@meup/mcp-bridge/serve'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { choose } from '../../packages/acp/test/support/editor.js'
import { openEditor } from '../../packages/acp/test/support/stage.js'
import { withChromium } from '../support/chromium.js'
import { meup } from '../support/cli.js'
import { drivePage } from '../support/driven-page.js'
import { enterPage, openProposals, openTerminal, type ProposalSpace } from '../support/proposals.js'
import { inTmux } from '../support/tmux.js'

const timeout = 60_000
const within = { timeout: 30_000, interval: 20 }

/** Params in an unusual notation: a program that parses and rewrites the JSON would change the bytes. */
const params = (text: string): string =>
  `{"name":"act",  "arguments":{"id":12345678901234567890,"rate":1.0,"\\u00e9":"\\u0061\\/b","text":"${text}"}}`
const short = params('short')
/** Params of 200 KiB, which clients show in parts, or let the user approve by id. */
const long = params('x'.repeat(200 * 1024))

/** Opens a space with one proposal, `p1`. */
async function proposed(params: string): Promise<ProposalSpace> {
  const scene = await openProposals()
  await scene.propose('p1', params)
  return scene
}

const approvalOf = (proposal: string) => ({ kind: 'mcp.request', correlationId: proposal })

/** Checks that the log has one request with the bytes of the proposal, although only the id of the proposal was sent for it. */
async function expectApproved(
  { post, requests }: ProposalSpace,
  raw: string,
  proposal = 'p1',
): Promise<void> {
  await expect.poll(async () => (await requests(proposal)).length, within).toBe(1)
  const [line = ''] = await requests(proposal)
  expect(line.includes(`"params":${raw}`)).toBe(true)
  const { id, seq } = JSON.parse(line) as { id: string; seq: number }
  // A retry with the same content returns the same envelope [MEUP-1.10].
  const retry = await post('ana', JSON.stringify({ id, ...approvalOf(proposal) }))
  expect([retry.status, await retry.json()]).toMatchObject([201, [{ id, seq }]])
  expect(await requests(proposal)).toEqual([line])
}

/** Checks that the client sent one short envelope for each proposal over its socket. */
function expectSentShort({ tap }: ProposalSpace, proposals: readonly string[] = ['p1']): void {
  const sent = tap.sent()
  const about = sent.filter((text) => proposals.some((id) => text.includes(id)))
  expect(about.map((text) => JSON.parse(text))).toEqual(
    proposals.map((id) => ({ id: expect.any(String), ...approvalOf(id) })),
  )
  expect(Math.max(...sent.map((text) => Buffer.byteLength(text)))).toBeLessThan(300)
}

test('over HTTP the id of a proposal approves it', async () => {
  const scene = await proposed(long)
  const body = '{"kind":"mcp.request","correlationId":"p1"}'
  const headers = ['-H', `authorization: Bearer ${scene.readToken('ana')}`]
  const curl = spawn('curl', ['-sf', ...headers, '-d', body, `${scene.url}/spaces/demo/envelopes`])
  expect(await once(curl, 'close')).toEqual([0, null])
  await expectApproved(scene, long)
})

test('the SDK sends the id of a proposal that it has not received', async () => {
  const scene = await proposed(long)
  const ana = await scene.enterTapped()
  expect(await ana.proposals.approve('p1')).toMatchObject({ content: [{ text: 'acted' }] })
  await expectApproved(scene, long)
  expectSentShort(scene)
})

test('meup proposals approve sends the id of a proposal', async () => {
  const scene = await proposed(long)
  const { cwd, env } = scene
  expect(await meup(['proposals', 'approve', 'p1', '--yes'], { cwd, env })).toMatchObject({
    code: 0,
    stdout: 'acted\n',
  })
  await expectApproved(scene, long)
  expectSentShort(scene)
})

test(
  'the terminal sends the id of a proposal, by /approve and by y',
  { timeout },
  inTmux(async () => {
    const scene = await openProposals()
    const pane = await openTerminal(scene)
    for (const [id, line] of [
      ['p1', '/approve p1'],
      ['p2', 'y'],
    ] as const) {
      await scene.propose(id, short)
      await pane.shows((screen) => expect(screen).toMatch(/^⚠ 1 pending · y\/n/m))
      pane.type(line)
      pane.press('Enter')
      await expectApproved(scene, short, id)
      await pane.shows((screen) => expect(screen).not.toContain('pending ·'))
    }
    expectSentShort(scene, ['p1', 'p2'])
  }),
)

test(
  'the page sends the id of a proposal',
  { timeout },
  withChromium(async (chromium) => {
    const scene = await proposed(short)
    const page = await drivePage(chromium)
    await enterPage(page, scene.tap.url, scene.readToken('ana'))
    await page.click('button', 'Approve')
    await page.shows('approved by ana')
    await expectApproved(scene, short)
    expectSentShort(scene)
    expect(page.problems).toEqual([])
  }),
)

test('a client of MCP sends the id of a proposal', async () => {
  const scene = await proposed(long)
  const space = await scene.enterTapped({ openProposals: true })
  const token = 'token-of-this-server'
  const serving = await serveSpaceOverHttp({ space, http: scene.http }, { port: 0, token })
  onTestFinished(() => serving.close())
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url), { requestInit }))
  onTestFinished(() => client.close())
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })).structuredContent as { next_offset?: number }
  for (let offset: number | undefined = 0; offset !== undefined; )
    offset = (await call('show_proposal', { id: 'p1', offset })).next_offset
  await call('decide_proposal', { id: 'p1', decision: 'approve' })
  await expectApproved(scene, long)
  expectSentShort(scene)
})

test('an editor that speaks ACP sends the id of a proposal', async () => {
  const scene = await proposed(short)
  const coder = await scene.enter('coder')
  // The agent must not reply earlier: when its prompt ends, a proposal that is still undecided is withdrawn.
  void coder.answer(async (turn) => {
    await expect.poll(async () => (await scene.requests('p1')).length, within).toBe(1)
    await turn.reply('done')
  })
  const space = await scene.enterTapped({ openProposals: true })
  const { editor } = await openEditor(space, { to: 'coder', http: scene.http })
  const { sessionId } = await editor.begin()
  editor.decide = () => choose('allow_once')
  await editor.prompt(sessionId, 'Go on')
  await expectApproved(scene, short)
  expectSentShort(scene)
})

test('AG-UI hands on the id of a proposal', async () => {
  const scene = await proposed(short)
  const body = JSON.stringify({
    threadId: 'thread',
    runId: 'run',
    messages: [{ id: 'q1', role: 'user', content: 'Go on' }],
    forwardedProps: { agent: 'coder' },
    resume: [{ interruptId: 'p1', status: 'resolved', payload: { approved: true } }],
  })
  const response = await scene.request('ana', 'ag-ui', { method: 'POST', body })
  await response.body?.cancel()
  expect(response.status).toBe(200)
  await expectApproved(scene, short)
})
