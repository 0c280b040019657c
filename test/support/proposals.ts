import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectOptions, connect, type SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { expect, onTestFinished } from 'vitest'
import { commandLine, temporaryFolder } from './cli.js'
import type { DrivenPage } from './driven-page.js'
import { runSpace } from './space.js'
import { tapped } from './tapped.js'
import { openPane, type Pane } from './tmux.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: memory }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: ["*"] }
  cal: { kind: human, capabilities: ["*"] }
  coder: { kind: agent, capabilities: [chat, mcp.proposal, mcp.withdraw] }
  tool: { kind: agent, capabilities: [chat, mcp.response] }
`

/**
 * Opens a running space in which coder proposes calls of a tool, and ana, ben and cal may decide. A proxy records what clients
 * send.
 */
export async function openProposals() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const running = await runSpace(cwd)
  const tap = await tapped(running.url)
  const readToken = (as: string): string => readFileSync(join(cwd, '.meup/tokens', as), 'utf8').trim()
  const enter = async (as: string, options: ConnectOptions = {}): Promise<SpaceClient> => {
    const space = await connect({ url: running.url, space: 'demo', token: readToken(as), ...options })
    onTestFinished(() => space.close())
    return space
  }
  /** Connects ana through the proxy. */
  const enterTapped = (options: ConnectOptions = {}) => enter('ana', { url: tap.url, ...options })
  const http = new HttpClient({ url: tap.url, space: 'demo', token: readToken('ana') })
  const tool = await enter('tool')
  tool.tool('act', {}, () => 'acted')
  const request = (as: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${running.url}/spaces/demo/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${readToken(as)}`, ...init.headers },
    })
  const post = (as: string, body: string): Promise<Response> =>
    request(as, 'envelopes', { method: 'POST', body })
  /**
   * Proposes over HTTP as coder, because a connected program of coder would withdraw rejected proposals. `params`: JSON text.
   */
  const propose = async (id: string, params: string): Promise<void> => {
    const payload = `{"method":"tools/call","params":${params}}`
    const { status } = await post(
      'coder',
      `{"id":"${id}","kind":"mcp.proposal","to":["tool"],"rationale":"it is time","payload":${payload}}`,
    )
    expect(status).toBe(201)
  }
  const env = { MEUP_URL: tap.url, MEUP_SPACE: 'demo', MEUP_TOKEN: readToken('ana'), NO_COLOR: '1' }
  /** Lists the requests in the log that fulfil a proposal, one JSON text each. */
  const requests = async (id: string): Promise<string[]> => {
    const accept = 'application/x-ndjson'
    const response = await request('ana', 'envelopes?kind=mcp.request', { headers: { accept } })
    return (await response.text()).split('\n').filter((line) => line.includes(`"correlationId":"${id}"`))
  }
  return {
    url: running.url,
    cwd,
    tap,
    env,
    http,
    enter,
    enterTapped,
    request,
    post,
    propose,
    requests,
    readToken,
  }
}

export type ProposalSpace = Awaited<ReturnType<typeof openProposals>>

/** Signs in on the page. */
export async function enterPage(page: DrivenPage, url: string, token: string): Promise<void> {
  await page.goTo(`${url}/#/s/demo`)
  await page.type('input[name=token]', token)
  await page.click('button[type=submit]')
  await page.shows('live')
}

/** Opens a terminal in which ana has joined. */
export async function openTerminal({ cwd, env }: ProposalSpace): Promise<Pane> {
  const pane = openPane(commandLine('join'), { cwd, columns: 100, rows: 40, env })
  await pane.sees('you are ana')
  return pane
}
