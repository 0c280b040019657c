import { createGateway, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { conversation } from './conversation.js'

/** Whom ana asks, one after the other. */
export const agents = 50
const config = testSpaceConfig({
  participants: Object.fromEntries(
    ['ana', 'files', ...Array.from({ length: agents }, (_, i) => `agent-${i}`)].map((id) => [id, ['*']]),
  ),
})
export const space = config.name

export interface Reading {
  /** Path below the space, as ana unless somebody else is named. */
  get(path: string, as?: string): Promise<Response>
  /** Sends envelopes as ana. */
  post(envelopes: readonly object[]): Promise<void>
  close(): Promise<void>
}

/** Makes a file of a space's log with so many envelopes. */
export async function fill(path: string, size: number, name = space, resultBytes = 0): Promise<void> {
  const store = await sqliteStore({ path })
  const log = await store.open(name)
  for (let seq = 1; seq <= size; seq += 500) {
    await log.append(conversation(seq, Math.min(500, size - seq + 1), { agents, resultBytes }))
  }
  await store.close()
}

/** Serves the space of a file. */
export async function startOn(path: string): Promise<Reading> {
  const store = await sqliteStore({ path })
  const tokens = Object.fromEntries(Object.keys(config.participants).map((id) => [id, testToken(id)]))
  const authenticator = tokenAuthenticator({ [space]: tokens })
  const gateway = await createGateway({ spaces: [config], store, authenticator })
  const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
  const headers = (as: string) => ({ authorization: `Bearer ${testToken(as)}` })
  return {
    get: (asked, as = 'ana') => fetch(`${url}/spaces/${space}/${asked}`, { headers: headers(as) }),
    async post(envelopes) {
      const asked = { method: 'POST', headers: headers('ana'), body: JSON.stringify(envelopes) }
      const answer = await fetch(`${url}/spaces/${space}/envelopes`, asked)
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
    },
    close,
  }
}

/** Resolves when turns are indexed up to the end of the log. */
export async function caughtUp({ get }: Reading): Promise<void> {
  for (let status = 503; status === 503; ) {
    const answer = await get(`turns?thread_id=${space}/agent-0`)
    await answer.text()
    status = answer.status
  }
}
