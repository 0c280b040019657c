import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { type Gateway, memoryStore, type Served, serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { pageDirectory } from '@meup/observer'
import type { Capability, ProgramInfo } from '@meup/protocol'
import { expect, onTestFinished } from 'vitest'
import { withChromium } from './chromium.js'
import { type DrivenPage, drivePage } from './driven-page.js'

const thinks: Capability[] = ['chat', 'reasoning.*', 'mcp.proposal', { kind: 'mcp.request', to: 'repo' }]
const ofAna: Capability[] = [
  ...['chat', 'mcp.*', 'observe.visibility', 'capability.grant', 'reasoning.cancel', 'reasoning.thought'],
]
const participants: Record<string, Capability[]> = {
  ana: ofAna,
  admin: ['space.kick'],
  planner: [...thinks, 'participant.status'],
  security: thinks,
  repo: ['mcp.response'],
  deploy: ['mcp.response'],
  eve: ['chat'],
  rex: ['chat', { kind: 'mcp.*', to: 're:deploy|planner' }],
}

interface PageGatewayOptions extends Pick<Parameters<typeof createTestGateway>[0], 'limits' | 'clock'> {
  /** Capabilities of further participants. */
  readonly more?: Readonly<Record<string, Capability[]>>
}

/** Starts a gateway that can be restarted at the same address, with the same log. */
export async function openPageGateway({ more, ...options }: PageGatewayOptions = {}) {
  const spaces = new Map()
  let port = 0
  let served: Served | undefined
  let running: Gateway | undefined
  /** Starts the gateway. `isNew`: with an empty log. */
  const start = async (isNew = false): Promise<string> => {
    if (isNew) spaces.clear()
    const gateway = await createTestGateway({
      ...options,
      name: 'demo',
      // A human, because a new client of any other participant replaces its earlier one, but tests connect ana several times.
      participants: { ...participants, ...more, ana: { kind: 'human', capabilities: ofAna } },
      store: memoryStore(spaces),
    })
    running = gateway
    served = await serve({ gateway, host: '127.0.0.1', port, page: pageDirectory })
    port = Number(new URL(served.url).port)
    return served.url
  }
  onTestFinished(() => served?.close())
  const url = await start()
  const enter = async (id: string): Promise<SpaceClient> => {
    // Long deadlines, because two hundred participants may connect at once on a busy machine.
    const deadlines = { handshakeMs: 60_000, welcomeMs: 60_000 }
    const space = await SpaceClient.open(dialWs, { url, space: 'demo', token: testToken(id), deadlines })
    onTestFinished(() => space.close())
    return space
  }
  const setProgram = (id: string, program: ProgramInfo | undefined): void =>
    running?.setProgram('demo', id, program)
  return { url, enter, start, stop: async () => served?.close(), spaces, setProgram }
}

/** Sends envelopes over HTTP, two hundred per request. */
export async function sendMany(url: string, from: string, drafts: readonly object[]): Promise<void> {
  const headers = { authorization: `Bearer ${testToken(from)}`, 'content-type': 'application/json' }
  for (let at = 0; at < drafts.length; at += 200) {
    const body = JSON.stringify(drafts.slice(at, at + 200))
    const response = await fetch(`${url}/spaces/demo/envelopes`, { method: 'POST', headers, body })
    expect(response.status).toBeLessThan(300)
  }
}

const folder = process.env.MEUP_SCREENSHOTS

/**
 * Returns the file for a picture of a test; `undefined` unless MEUP_SCREENSHOTS names a folder, because pictures take long to
 * draw.
 */
export function pictures(name: string): string | undefined {
  if (folder === undefined) return undefined
  mkdirSync(folder, { recursive: true })
  return join(folder, `${name}.png`)
}

/** Connects the agents, and the server of the tools that they use. */
export async function crew({ enter }: { enter(id: string): Promise<SpaceClient> }) {
  const planner = await enter('planner')
  const security = await enter('security')
  const repo = await enter('repo')
  repo.tool('read_diff', {}, () => 'three files changed, 48 lines')
  repo.tool('lint', {}, () => {
    throw new Error('2 problems in checkout.ts')
  })
  const deploy = await enter('deploy')
  deploy.tool('release', {}, () => 'released 1.4.2 to production')
  return { planner, security }
}

/** Signs in on the page. */
export async function enterAs(
  page: DrivenPage,
  url: string,
  participant: string,
  space = 'demo',
): Promise<void> {
  await page.resize(1280, 800)
  await page.goTo(`${url}/#/s/${space}`)
  await page.type('input[name=token]', testToken(participant))
  await page.click('button[type=submit]')
  await page.shows('live')
}

/** Goes to the oldest proposal and approves it by keys, as soon as the page allows that. */
export async function approveByKey(page: DrivenPage): Promise<void> {
  await page.key('p')
  // Scrolls to the end of each box: `p` has scrolled to the row of the proposal, but its card may be drawn later and end below
  // the view.
  const isOff = `{
    for (const end of document.querySelectorAll('.box-end')) end.scrollIntoView({ block: 'nearest' })
    document.querySelector('[data-key-press=y]')?.disabled
  }`
  await expect.poll(() => page.evaluate(isOff), { timeout: 20_000 }).toBe(false)
  await page.key('y')
}

/** Opens the inbox, whose code is loaded on demand. */
export async function openInbox(page: DrivenPage): Promise<void> {
  await page.key('i')
  await expect.poll(() => page.evaluate(`document.querySelector('.inbox') !== null`)).toBe(true)
}

interface PageScene {
  readonly gateway: Awaited<ReturnType<typeof openPageGateway>>
  readonly page: DrivenPage
  /** Signs in on the page as ana. */
  enter(): Promise<void>
}

/** A test with a gateway and a page in a browser. Fails if the page has a problem other than those that match `expected`. */
export const onPage = (run: (scene: PageScene) => Promise<void>, expected?: RegExp) =>
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const page = await drivePage(chromium)
    await run({ gateway, page, enter: () => enterAs(page, gateway.url, 'ana') })
    expect(page.problems.filter((problem) => expected?.test(problem) !== true)).toEqual([])
  })
