import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { ProtocolError } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIds } from '../support/chain.js'
import { type RunningSpace, startMeup, temporaryFolder } from '../support/cli.js'
import { hasStrace, mountSmallDisk, tracedCalls, tracing } from '../support/faults.js'
import { needing } from '../verifies.js'

const onSmallDisk = needing('the right to mount a disk in memory (root)', () => mountSmallDisk(3))
const withStrace = needing('strace, and the right to trace', hasStrace)

/** Allows for a pause of up to ten seconds before the gateway retries. */
const patient = { timeout: 40_000 }
const plenty = '{ perSecond: 100000, burst: 100000 }'
const config = (path: string, durability: string) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: sqlite, path: "${path}", durability: ${durability} }
limits: { rates: { chat: ${plenty}, control: ${plenty} } }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: ["*"] }
  late: { kind: agent, capabilities: [] }
`

/** Starts a gateway with a sender and a listener. */
async function running(
  options: { durability?: string; database?: string; through?: (folder: string) => string[] } = {},
) {
  const { durability = 'process', database = 'data/space.db', through = () => [] } = options
  const folder = temporaryFolder({ 'space.yaml': config(database, durability) })
  const gateway = await startMeup('gateway', folder, [], through(folder))
  const token = (id: string) => readFileSync(join(folder, '.meup/tokens', id), 'utf8').trim()
  const enter = async (id: string, where: { after?: number } = {}) => {
    const space = await SpaceClient.open(dialWs, {
      url: gateway.url,
      space: 'demo',
      token: token(id),
      ...where,
    })
    onTestFinished(() => void space.close())
    const seen: { id: string; seq: number }[] = []
    space.on('envelope', ({ id, seq }) => seq !== undefined && seen.push({ id, seq }))
    return { space, seen }
  }
  const [ana, ben] = [await enter('ana'), await enter('ben')]
  const accepted: { id: string; seq: number }[] = []
  const refused: string[] = []
  let sent = 0
  /** Sends a chat. Returns whether it was accepted; any error except `unavailable` fails the test. */
  const say = async (): Promise<boolean> => {
    const id = `said${++sent}`
    try {
      const { seq = 0 } = await ana.space.send({ id, kind: 'chat', payload: { message: `number ${sent}` } })
      accepted.push({ id, seq })
      return true
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'unavailable') throw error
      refused.push(id)
      return false
    }
  }
  return { gateway, folder, path: join(folder, database), enter, ben, say, accepted, refused }
}

async function says(say: () => Promise<boolean>, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect(await say()).toBe(true)
}

/** Sends chats until one is accepted, or until one is refused if `isAccepted` is false. */
async function saysUntil(say: () => Promise<boolean>, isAccepted: boolean): Promise<void> {
  for (const end = performance.now() + 30_000; (await say()) !== isAccepted; ) {
    if (performance.now() > end)
      throw new Error(`nothing was ${isAccepted ? 'accepted' : 'refused'} any more`)
    if (isAccepted) await pause(20)
  }
}

/** Checks the log after the gateway has ended: acknowledged envelopes are in it at their seqs, and refused ones are not. */
async function expectKept(
  gateway: RunningSpace,
  path: string,
  { accepted, refused }: { accepted: { id: string; seq: number }[]; refused: string[] },
): Promise<void> {
  expect(await gateway.stop('SIGTERM')).toBe(0)
  const ids = await verifiedIds(path, 'demo')
  expect(new Set(ids).size).toBe(ids.length)
  for (const { id, seq } of accepted) expect(ids[seq - 1]).toBe(id)
  for (const id of refused) expect(ids).not.toContain(id)
}

test(
  'a full disk: nothing is accepted, everything is read, and with room it goes on by itself',
  onSmallDisk(async (disk) => {
    const database = join(disk.folder, 'space.db')
    const { gateway, enter, ben, say, accepted, refused } = await running({ database })
    await says(say, 20)
    disk.fill()
    for (let i = 0; i < 5; i++) expect(await say()).toBe(false)

    const late = await enter('late', { after: 0 })
    const last = accepted.at(-1)?.seq ?? 0
    await expect.poll(() => late.seen.at(-1)?.seq, patient).toBe(last)
    expect(late.seen.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1))
    expect(await say()).toBe(false)
    expect(ben.seen.at(-1)?.seq).toBe(last)

    disk.clear()
    // The gateway retries on its own: although no one sends, it logs a join that happened during the fault.
    await expect.poll(() => ben.seen.at(-1)?.seq, patient).toBeGreaterThan(last)
    await says(say, 20)
    for (const { seen } of [ben, late]) {
      await expect.poll(() => seen.at(-1)?.seq, patient).toBe(accepted.at(-1)?.seq)
      expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, i) => (seen[0]?.seq ?? 0) + i))
    }
    await expectKept(gateway, database, { accepted, refused })
  }),
  60_000,
)

test(
  'a disk that is full again and again',
  onSmallDisk(async (disk) => {
    const database = join(disk.folder, 'space.db')
    const { gateway, say, accepted, refused } = await running({ database, durability: 'power' })
    for (let round = 0; round < 3; round++) {
      await saysUntil(say, true)
      await says(say, 10)
      disk.fill()
      await saysUntil(say, false)
      disk.clear()
    }
    await saysUntil(say, true)
    await expectKept(gateway, database, { accepted, refused })
  }),
  60_000,
)

const faults = [
  ['a failed fsync', 'fsync,fdatasync', 'power', 'error=EIO:when=40..43'],
  ['a failed write', 'pwrite64', 'process', 'error=EIO:when=300..303'],
  ['a write for which there is no room', 'pwrite64', 'process', 'error=ENOSPC:when=300..303'],
] as const

for (const [name, calls, durability, fault] of faults) {
  test(
    `${name}: what it was for is refused, and it goes on by itself`,
    withStrace(async () => {
      const { gateway, folder, path, ben, say, accepted, refused } = await running({
        durability,
        through: (folder) => tracing(calls, join(folder, 'trace'), fault),
      })
      await saysUntil(say, false)
      await saysUntil(say, true)
      let before = tracedCalls(join(folder, 'trace'))
      expect(before.filter(({ injected }) => injected).length, 'attempts that failed').toBeGreaterThan(1)
      // strace counts the calls of each thread, so further calls may fail: wait for 20 successes in a row.
      for (let inRow = 0; inRow < 20; inRow++) {
        if (inRow === 0) before = tracedCalls(join(folder, 'trace'))
        if (!(await say())) inRow = -1
      }
      const after = tracedCalls(join(folder, 'trace'))
      expect(after.length - before.length, 'as durable as ever').toBeGreaterThanOrEqual(20)
      await expect.poll(() => ben.seen.at(-1)?.seq, patient).toBe(accepted.at(-1)?.seq)
      await expectKept(gateway, path, { accepted, refused })
    }),
    60_000,
  )
}

for (const [durability, syncs] of [
  ['power', 20],
  ['process', 0],
] as const) {
  test(
    `durability ${durability}: ${syncs} of 20 acknowledged envelopes are synced to the disk`,
    withStrace(async () => {
      const { folder, say } = await running({
        durability,
        through: (folder) => tracing('fsync,fdatasync', join(folder, 'trace')),
      })
      await says(say, 5)
      const count = () => tracedCalls(join(folder, 'trace')).length
      const before = count()
      await says(say, 20)
      expect(count() - before).toBe(syncs)
    }),
    60_000,
  )
}
