import { createServer } from 'node:net'
import { parseEnvelope } from '@meup/gateway'
import { expect, onTestFinished, test } from 'vitest'
import { draft, drafts, openNats, withNats } from '../nats.js'

const everything = { limit: 10_000 }

test(
  'a gateway with an empty replica gets the same rows, hashes and epoch',
  withNats(async () => {
    const { store } = await openNats()
    const one = await store()
    const log = await one.open('main')
    // Writes more messages than a gateway reads with single requests.
    for (let seq = 1; seq <= 120; seq += 3) await log.append(drafts(seq, seq + 2))
    const rows = await log.read(everything)
    await one.close()
    const again = await (await store()).open('main')
    expect(again.epoch).toBe(log.epoch)
    expect(await again.read(everything)).toEqual(rows)
    expect(again.find('e7')?.seq).toBe(7)
    await expect(again.append([draft(121, 'e7')])).rejects.toMatchObject({ code: 'duplicate_id' })
    await again.append([draft(121)])
  }),
)

test(
  'a gateway with an empty replica begins with the snapshot of what was pruned',
  withNats(async () => {
    const { store } = await openNats()
    const one = await store()
    const log = await one.open('main')
    for (let seq = 1; seq <= 40; seq += 4) await log.append(drafts(seq, seq + 3))
    const large = Buffer.alloc(700_000, 'state')
    await log.prune(9, Buffer.from('first'))
    await log.prune(18, large)
    const [rows, snapshot] = [await log.read(everything), log.snapshot]
    await one.close()
    const again = await (await store()).open('main')
    expect([again.oldest, again.head]).toEqual([19, 40])
    expect(await again.read(everything)).toEqual(rows)
    expect(Buffer.from(again.snapshot?.hash ?? [])).toEqual(Buffer.from(snapshot?.hash ?? [1]))
    expect(large.equals(again.snapshot?.bytes ?? Buffer.of())).toBe(true)
    await again.append([draft(41, 'e1')])
  }),
)

test(
  'a second gateway follows while the first lives, and takes over with all that was acknowledged',
  withNats(async () => {
    const { store } = await openNats()
    const one = await store()
    const log = await one.open('main')
    await log.append(drafts(1, 5))
    const two = await store()
    const following = await two.open('main')
    expect([log.shared?.leads, following.shared?.leads]).toEqual([true, false])
    expect([following.epoch, following.head]).toEqual([log.epoch, 5])
    await expect(following.append([draft(6)])).rejects.toMatchObject({ name: 'LogError', code: 'fenced' })
    const grown: number[] = []
    let isOrphaned = false
    following.shared?.listen({
      onRows: (rows) => grown.push(...rows.map(({ seq }) => seq)),
      onLeaderLost: () => {
        isOrphaned = true
      },
      onRequest: () => ({}),
      onPruned: () => {},
      onNote: () => {},
    })
    await log.append(drafts(6, 8))
    await log.append(drafts(9, 9))
    await expect.poll(() => grown).toEqual([6, 7, 8, 9])
    expect(await following.read(everything)).toEqual(await log.read(everything))
    await one.close()
    await expect.poll(() => isOrphaned).toBe(true)
    await following.recover()
    expect([following.shared?.leads, following.head]).toEqual([true, 9])
    await following.append([draft(10)])
  }),
)

test(
  'of two that write behind the same envelope the stream takes one; the other stores nothing, and follows',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const [one, two] = [await store(), await store()]
    const log = await one.open('main')
    await log.append(drafts(1, 3))
    // Removes the entry of the first gateway from the bucket of owners, as if it had been silent for long.
    const { manager } = await stranger()
    await manager.streams.purge('KV_meup_owners')
    const rival = await two.open('main')
    await rival.append([draft(4, 'rival')])
    await expect(log.append([draft(4, 'late')])).rejects.toMatchObject({ code: 'fenced' })
    await expect(log.append([draft(4, 'later')])).rejects.toMatchObject({ code: 'fenced' })
    expect([log.head, log.find('late'), rival.find('late')]).toEqual([3, undefined, undefined])
    await log.recover()
    expect([log.shared?.leads, log.head, log.find('rival')?.seq]).toEqual([false, 4, 4])
    await expect(log.append([draft(5, 'late')])).rejects.toMatchObject({ code: 'fenced' })
    await two.close()
    await log.recover()
    await log.append([draft(5, 'late')])
    expect((await log.read(everything)).map(({ id }) => id)).toEqual(['e1', 'e2', 'e3', 'rival', 'late'])
  }),
)

test(
  'while the server is away nothing is acknowledged and everything is read; it goes on by itself',
  withNats(async () => {
    const { nats, store } = await openNats()
    const log = await (await store()).open('main')
    await log.append(drafts(1, 3))
    const [server] = nats.nodes
    await server?.end('SIGKILL')
    await expect(log.append([draft(4, 'lost')])).rejects.toMatchObject({ code: 'unavailable' })
    await expect(log.recover()).rejects.toMatchObject({ code: 'unavailable' })
    expect((await log.read(everything)).map(parseEnvelope)).toHaveLength(3)
    expect(log.find('e2')?.seq).toBe(2)
    await server?.start()
    await expect
      .poll(() => log.recover().then(() => 'recovered', String), { timeout: 20_000 })
      .toBe('recovered')
    // The draft that was rejected above may nevertheless be in the stream, so the next seq is read from the log.
    const next = log.head + 1
    await log.append([draft(next)])
    expect(log.find(`e${next}`)?.seq).toBe(next)
  }),
)

test(
  'a server that is too old is refused by name',
  withNats(async () => {
    const { store } = await openNats()
    // Imitates the first line of an old server, which is enough to detect the version.
    const old = createServer((socket) => {
      const info = {
        server_id: 'old',
        version: '2.8.4',
        proto: 1,
        jetstream: true,
        headers: true,
        max_payload: 1024,
      }
      socket.write(`INFO ${JSON.stringify(info)}\r\n`)
      socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
      socket.on('error', () => socket.destroy())
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void old.close())
    await new Promise((resolve) => old.once('listening', resolve))
    const { port } = old.address() as { port: number }
    const refusal = { code: 'server', details: { version: '2.8.4', oldest: '2.9' } }
    await expect(store('old.db', { servers: [`nats://127.0.0.1:${port}`] })).rejects.toMatchObject(refusal)
  }),
)
