import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EnvelopeLog, Row } from '@meup/gateway'
import { expect, test } from 'vitest'
import type { Nats } from '../../../../test/support/nats.js'
import { erase, needle, participants, tellEverything, viewsOf } from '../../../gateway/test/erasing.js'
import { asking } from '../../../gateway/test/http-client.js'
import { start } from '../../../gateway/test/support.js'
import { draft, drafts, openNats, withNats } from '../nats.js'

const nothing = {
  onRows: () => {},
  onLeaderLost: () => {},
  onPruned: () => {},
  onRequest: () => ({}),
  onNote: () => {},
}

/** A draft with this text in its body. */
function saying(seq: number, text: string) {
  const body = Buffer.from(`{"id":"e${seq}","payload":{"message":"${text}"}}`)
  return { ...draft(seq), body, content: body }
}

const secrets = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => saying(from + i, `secret-${from + i}-`))

/** Numbers of the secrets that these bytes contain. */
const secretsIn = (bytes: string): number[] =>
  [...new Set([...bytes.matchAll(/secret-(\d+)-/g)].map(([, seq]) => Number(seq)))].sort((a, b) => a - b)

const natsFiles = ({ nodes }: Nats): string => nodes.map(({ bytes }) => bytes).join()

const bytesIn = (folder: string): string =>
  readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'latin1'))
    .join()

const lengths = async (log: EnvelopeLog): Promise<number[]> =>
  (await log.read({ limit: 99 })).map(({ body }: Row) => body.length)

test(
  'what is erased is in no file of servers and gateways, and what shared its message stays',
  withNats(async () => {
    const { nats, folder, store } = await openNats()
    const log = await (await store()).open('main')
    await log.append(secrets(1, 6))
    await log.append(secrets(7, 9))
    const following = await (await store('follower.db')).open('main')
    following.shared?.listen(nothing)
    expect(secretsIn(natsFiles(nats))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    for (const seqs of [[2], [3, 8], [5]]) {
      expect(await log.erase(seqs)).toBe(true)
      expect(await following.erase(seqs)).toBe(true)
    }
    expect(secretsIn(natsFiles(nats))).toEqual([1, 4, 6, 7, 9])
    expect(secretsIn(bytesIn(folder))).toEqual([1, 4, 6, 7, 9])
    await log.append(secrets(10, 11))
    await expect.poll(() => following.head).toBe(11)
    expect(await log.erase([2, 3, 5, 8])).toBe(false)
  }),
)

test(
  'a gateway that comes later makes its replica of what is left',
  withNats(async () => {
    const { store } = await openNats()
    const log = await (await store()).open('main')
    for (let seq = 1; seq <= 40; seq += 4) await log.append(secrets(seq, seq + 3))
    await log.erase([1, 2, 6, 7, 15, 40])
    const late = await (await store('late.db')).open('main')
    expect(await late.read({ limit: 99 })).toEqual(await log.read({ limit: 99 }))
    expect((await lengths(late)).flatMap((length, i) => (length === 0 ? [i + 1] : []))).toEqual([
      1, 2, 6, 7, 15, 40,
    ])
    await log.prune(14, Buffer.from('state'))
    const later = await (await store('later.db')).open('main')
    expect(later.oldest).toBe(15)
    expect(await later.read({ limit: 99 })).toEqual(await log.read({ limit: 99 }))
  }),
)

test(
  'what was written anew goes with what is pruned',
  withNats(async () => {
    const { nats, store, stranger } = await openNats()
    const log = await (await store()).open('main')
    await log.append(secrets(1, 3))
    await log.append(secrets(4, 6))
    await log.append(secrets(7, 9))
    await log.erase([2, 5])
    await log.prune(4, Buffer.from('state'))
    const { manager } = await stranger()
    const { state } = await manager.streams.info('MEUP_5', { subjects_filter: 'meup.rewritten.5.main.*' })
    expect(state.subjects).toEqual({ 'meup.rewritten.5.main.4': 1 })
    expect(secretsIn(natsFiles(nats))).toContain(4)
  }),
)

test(
  'an erasure that was cut off before the message was removed is completed',
  withNats(async () => {
    const { nats, store, stranger } = await openNats()
    const opened = await store()
    const log = await opened.open('main')
    await log.append(secrets(1, 3))
    await log.append(drafts(4, 5))
    const { js, manager } = await stranger()
    const original = await manager.streams.getMessage('MEUP_5', { seq: 2 })
    await log.erase([2])
    // Restores the removed message after its rewritten version, as if the gateway had ended before removing it.
    await js.publish('meup.rewritten.5.main.1', original?.data ?? '', {})
    expect(secretsIn(natsFiles(nats))).toEqual([1, 2, 3])
    expect(await log.erase([2])).toBe(true)
    expect(secretsIn(natsFiles(nats))).toEqual([1, 3])
    expect((await (await store('late.db')).open('main')).head).toBe(5)
  }),
)

test(
  'a gateway that does not sequence erases at the one that does, and both show nothing of it',
  withNats(async () => {
    const { nats, folder, store } = await openNats()
    const stores = [await store(), await store()] as const
    const one = await start({ participants, store: stores[0] })
    const two = await start({ participants, store: stores[1] })
    const [ana, ben, tool] = [await one.connect('ana'), await two.connect('ben'), await two.connect('tool')]
    const { seqs } = await tellEverything({ ana, ben, tool })
    for (const { url } of [one, two]) expect(Object.values(await viewsOf(url)).join()).toContain(needle)
    for (const [i, seq] of seqs.entries()) {
      const { status, body } = await erase((i % 2 ? one : two).url, { seq, reason: 'a password' })
      expect({ status, body }).toMatchObject({ status: 201, body: { seq, removed: true } })
    }
    const isLast = ({ payload }: { payload: Record<string, unknown> }) => payload.seq === seqs.at(-1)
    await Promise.all([ana.next(isLast), ben.next(isLast)])
    for (const { url } of [one, two]) {
      expect(Object.values(await viewsOf(url)).join()).not.toContain(needle)
      expect(await asking(url, 'eve').json('/audit/verify')).toMatchObject({ ok: true })
    }
    await expect.poll(() => natsFiles(nats).includes(needle) || bytesIn(folder).includes(needle)).toBe(false)
  }),
)
