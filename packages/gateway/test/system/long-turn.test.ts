import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { TurnInfo } from '@meup/folds'
import { createGateway, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { createTestDraft, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { asking } from '../http-client.js'
import { participants } from '../indexed.js'
import { temporaryFile } from '../support.js'

const length = 100_000

/** An envelope of an unfinished turn: after the question and the start, thoughts, calls and results in rotation. */
function fieldsAt(seq: number): Parameters<typeof createTestDraft>[1] {
  const rest = { ts: '2026-02-21T00:00:00.000Z', id: `e${seq}` }
  if (seq === 1) return { ...rest, from: 'ana', kind: Kind.chat, payload: { message: 'do all of it' } }
  if (seq === 2) {
    const payload = { message: 'I do' }
    return { ...rest, id: 'run', from: 'ben', kind: Kind.reasoningStart, correlationId: 'e1', payload }
  }
  const inRun = { ...rest, from: 'ben', context: 'run' }
  if (seq % 3 === 0)
    return { ...inRun, kind: Kind.reasoningThought, payload: { message: `and on with ${seq}` } }
  if (seq % 3 === 1) {
    const params = { name: 'look', arguments: { at: seq } }
    return {
      ...inRun,
      to: ['cleo'],
      kind: Kind.mcpRequest,
      payload: { id: seq, method: 'tools/call', params },
    }
  }
  const payload = { result: { content: [{ type: 'text', text: 'there it is' }] } }
  return { ...rest, from: 'cleo', to: ['ben'], kind: Kind.mcpResponse, correlationId: `e${seq - 1}`, payload }
}

const whole = mkdtempSync(join(tmpdir(), 'meup-long-turn-'))
afterAll(() => rmSync(whole, { recursive: true }))
/** Writes the log with the turn, and its index. */
beforeAll(async () => {
  const path = join(whole, 'log.db')
  const store = await sqliteStore({ path })
  const log = await store.open('test')
  for (let seq = 1; seq <= length; seq += 500)
    await log.append(Array.from({ length: 500 }, (_, at) => createTestDraft(seq + at, fieldsAt(seq + at))))
  await store.close()
  const { close } = await startOn(path)
  await close()
})

/** A gateway on the log at `path`, with a complete index and empty caches. */
async function startOn(path: string) {
  const store = await sqliteStore({ path })
  const tokens = Object.fromEntries(Object.keys(participants).map((id) => [id, testToken(id)]))
  const authenticator = tokenAuthenticator({ test: tokens })
  const gateway = await createGateway({ spaces: [testSpaceConfig({ participants })], store, authenticator })
  const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
  const client = asking(url, 'dora')
  while ((await client.get('/turns?thread_id=test/dora')).status === 503);
  return { client, close }
}

/** A gateway on its own copy of the log. */
async function started() {
  const path = temporaryFile('log.db')
  cpSync(whole, dirname(path), { recursive: true })
  const { client, close } = await startOn(path)
  onTestFinished(close)
  // Collects the garbage of starting, so that this does not happen during the measured request.
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return client
}

test.for(['turns?thread_id=test/ben', 'audit?thread_id=test/ben&turn=1'])(
  'the first page of %s is there within a second, though the turn has 100,000 envelopes',
  // Other tests use the processor as well, so failures are retried; each attempt starts another gateway.
  { timeout: 300_000, retry: 5 },
  async (path) => {
    const client = await started()
    const [start, before] = [performance.now(), process.cpuUsage()]
    const page = (await client.json(`/${path}`)) as { turns?: TurnInfo[]; steps?: unknown[]; next?: number }
    const { user, system } = process.cpuUsage(before)
    // On a busy machine the gateway waits for the processor, so its processor time counts if it is less.
    const took = Math.min(performance.now() - start, (user + system) / 1000)
    const [turn] = page.turns ?? []
    if (turn === undefined) expect([page.steps?.length, typeof page.next]).toEqual([100, 'number'])
    else {
      expect(turn.tool_calls.length).toBeLessThanOrEqual(500)
      expect(turn.tool_calls.length).toBeGreaterThan(200)
      expect(turn.next).toBeGreaterThan(length * 0.9)
    }
    expect(took).toBeLessThan(1000)
  },
)
