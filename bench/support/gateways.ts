import { fileURLToPath } from 'node:url'
import { createGateway, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { startServer } from '../peers/process.js'
import { conversation } from './conversation.js'

/** Number of agents. ana asks them one after another. */
export const agents = 50
const config = testSpaceConfig({
  participants: Object.fromEntries(
    ['ana', 'files', ...Array.from({ length: agents }, (_, i) => `agent-${i}`)].map((id) => [id, ['*']]),
  ),
})
export const space = config.name

export interface Reading {
  /** Milliseconds that the gateway took to start. */
  readonly startMs: number
  /** Requests a path below the space, as ana unless `as` names another participant. */
  get(path: string, as?: string): Promise<Response>
  /** Posts envelopes as ana. */
  post(envelopes: readonly object[]): Promise<void>
  /** Resident memory in bytes. */
  rss(): number
  /** Processor time of all threads (user and system), in milliseconds. */
  cpu(): number
  close(): Promise<void>
}

/** Creates a log file of a space with `size` envelopes. */
export async function fill(path: string, size: number, name = space, resultBytes = 0): Promise<void> {
  const store = await sqliteStore({ path })
  const log = await store.open(name)
  for (let seq = 1; seq <= size; seq += 500) {
    await log.append(conversation(seq, Math.min(500, size - seq + 1), { agents, resultBytes }))
  }
  await store.close()
}

/** Serves a log file in this process. */
export async function serveFile(path: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const store = await sqliteStore({ path })
  const tokens = Object.fromEntries(Object.keys(config.participants).map((id) => [id, testToken(id)]))
  const authenticator = tokenAuthenticator({ [space]: tokens })
  const gateway = await createGateway({ spaces: [config], store, authenticator })
  return serve({ gateway, host: '127.0.0.1', port: 0 })
}

const script = fileURLToPath(new URL('./history-gateway.ts', import.meta.url))

/** Serves a log file in a separate process, on its own core. `nodeArgs`: options of Node.js before the program. */
export async function startOn(path: string, nodeArgs: readonly string[] = []): Promise<Reading> {
  let startMs = 0
  const server = await startServer({
    command: process.execPath,
    args: [...nodeArgs, '--import', 'tsx', script, path],
    portOf(line) {
      const [, port, ms] = /^listening on (\d+) after (\d+) ms$/.exec(line) ?? []
      if (ms !== undefined) startMs = Number(ms)
      return port === undefined ? undefined : Number(port)
    },
  })
  const url = `http://127.0.0.1:${server.port}/spaces/${space}`
  const headers = (as: string) => ({ authorization: `Bearer ${testToken(as)}` })
  return {
    startMs,
    get: (asked, as = 'ana') => fetch(`${url}/${asked}`, { headers: headers(as) }),
    async post(envelopes) {
      const asked = { method: 'POST', headers: headers('ana'), body: JSON.stringify(envelopes) }
      const answer = await fetch(`${url}/envelopes`, asked)
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
    },
    rss: server.rss,
    cpu: server.cpu,
    close: server.stop,
  }
}

/** Resolves when turns are indexed up to the end of the log. */
export async function caughtUp({ get }: Pick<Reading, 'get'>): Promise<void> {
  for (let status = 503; status === 503; ) {
    const answer = await get(`turns?thread_id=${space}/agent-0`)
    await answer.text()
    status = answer.status
  }
}
