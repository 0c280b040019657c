import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dialWs, type Transport } from '@meup/agent-sdk/internal'
import { type Envelope, rateClasses } from '@meup/protocol'
import { expect, onTestFinished } from 'vitest'
import { spawnMeup, temporaryFolder } from './cli.js'
import { isSoak } from './soak.js'

export const timeout = isSoak ? 1_800_000 : 180_000

const plenty = '{ perSecond: 100000000, burst: 100000000 }'
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: sqlite, path: data/space.db }
limits:
  sendBufferBytes: 1000000000
  rates: { ${rateClasses.map((each) => `${each}: ${plenty}`).join(', ')} }
participants:
  ana: { kind: agent, capabilities: ["*"] }
  ben: { kind: human, capabilities: ["*"] }
  cas: { kind: human, capabilities: [chat, "reasoning.*"] } # Those who may decide a proposal read it unmasked.
  eve: { kind: agent, capabilities: [chat] }
`

export interface Connection {
  /** The received frames, as text. */
  readonly frames: string[]
  /**
   * Sends envelopes. Resolves with them as logged, once this connection has received the last one; rejects if one is refused.
   */
  say(envelopes: readonly Draft[]): Promise<Envelope[]>
  /** Resolves when the connection has received this envelope. */
  shown(id: string): Promise<Envelope>
}
export type Draft = Record<string, unknown> & { readonly id: string }

/** Starts a real gateway in its own process. Its connections send nothing on their own. */
export async function running() {
  const folder = temporaryFolder({ 'space.yaml': config })
  const gateway = spawnMeup(['gateway', '--json'], folder)
  await expect.poll(() => gateway.said.stdout, { timeout: 30_000 }).toContain('"listening"')
  const { url } = JSON.parse(gateway.said.stdout.split('\n')[0] ?? '') as { url: string }
  const tokenOf = (id: string) => readFileSync(join(folder, '.meup/tokens', id), 'utf8').trim()
  return {
    folder,
    gateway,
    token: tokenOf('ana'),
    enter: (id: string): Promise<Connection> => lineTo(url, tokenOf(id)),
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/spaces/demo/${path}`, {
        headers: { authorization: `Bearer ${tokenOf('ben')}`, ...headers },
      }),
    /** Posts envelopes. Returns the status of the response. */
    async post(id: string, envelopes: readonly object[]): Promise<number> {
      const headers = { authorization: `Bearer ${tokenOf(id)}`, 'content-type': 'application/json' }
      const body = JSON.stringify(envelopes)
      const { status } = await fetch(`${url}/spaces/demo/envelopes`, { method: 'POST', headers, body })
      return status
    },
    async stop() {
      gateway.process.kill('SIGTERM')
      expect(await gateway.ended).toBe(0)
    },
  }
}

async function lineTo(url: string, token: string): Promise<Connection> {
  const frames: string[] = []
  const seen = new Map<string, Envelope>()
  const waiting = new Map<string, (envelope: Envelope) => void>()
  let fail = (_: Error): void => {}
  const refused = new Promise<never>((_, reject) => {
    fail = reject
  })
  refused.catch(() => {}) // Callers that wait for an envelope get the error.
  const message = (text: string): void => {
    frames.push(text)
    const envelope = JSON.parse(text) as Envelope
    if (envelope.kind === 'system.error') fail(new Error(`refused: ${text}`))
    seen.set(envelope.id, envelope)
    waiting.get(envelope.id)?.(envelope)
  }
  const transport: Transport = await dialWs({ url, space: 'demo', token }, { message, close: () => {} })
  onTestFinished(() => transport.close(1000, ''))
  const shown = (id: string): Promise<Envelope> => {
    const known = seen.get(id)
    const comes = known
      ? Promise.resolve(known)
      : new Promise<Envelope>((resolve) => waiting.set(id, resolve))
    return Promise.race([comes, refused])
  }
  return {
    frames,
    shown,
    async say(envelopes) {
      for (const envelope of envelopes) transport.send(JSON.stringify(envelope))
      await shown(envelopes.at(-1)?.id ?? '')
      return Promise.all(envelopes.map(({ id }) => shown(id)))
    },
  }
}

let ids = 0
export const freshId = (): string => `p${++ids}`

export const inBatches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )

/** Reads all pages of the history, as text. */
export async function historyOf(get: (path: string, headers?: Record<string, string>) => Promise<Response>) {
  const pages: string[] = []
  for (let after = 0; ; ) {
    const page = await (await get(`envelopes?limit=1000&after=${after}`)).text()
    const lines = await get(`envelopes?limit=1000&after=${after}`, { accept: 'application/x-ndjson' })
    pages.push(page, await lines.text())
    const { has_more, next } = JSON.parse(page) as { has_more: boolean; next?: number }
    if (!has_more || next === undefined) return pages.join('\n')
    after = next
  }
}

export function filesOf(folder: string): Record<string, Buffer> {
  const paths = ['space.db', 'space.db-wal', 'space.db-shm'].map((name) => join(folder, 'data', name))
  return Object.fromEntries(
    paths.filter((path) => existsSync(path)).map((path) => [path, readFileSync(path)]),
  )
}
