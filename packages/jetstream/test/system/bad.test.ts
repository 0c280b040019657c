import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { draft, drafts, openNats, withNats } from '../nats.js'

/** Stream and subject of the space `main`. Other gateways derive the same names. */
const stream = 'MEUP_5'
const subject = 'meup.space.5.main'

const refused = (code: string, details: object) => ({ name: 'LogError', code, details })
const ofMain = (details: object) => refused('corrupt', { stream, subject, ...details })

test(
  'a stream that somebody purged is refused: at the next start, and where the log is written',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const one = await store('same.db')
    const log = await one.open('main')
    await log.append(drafts(1, 3))
    const { manager } = await stranger()
    await manager.streams.purge(stream, { filter: subject })
    await expect(log.append([draft(4)])).rejects.toMatchObject({ code: 'fenced' })
    await expect(log.recover()).rejects.toMatchObject(ofMain({ known: 3 }))
    expect((await log.read({ limit: 9 })).map(({ seq }) => seq)).toEqual([1, 2, 3])
    await one.close()
    await expect((await store('same.db')).open('main')).rejects.toMatchObject(ofMain({ known: 3 }))
  }),
)

test(
  'a stream of which somebody purged the beginning is refused by whoever needs that',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const one = await store('same.db')
    const log = await one.open('main')
    for (const seq of [1, 2, 3, 4]) await log.append([draft(seq)])
    await one.close()
    const { manager } = await stranger()
    await manager.streams.purge(stream, { filter: subject, seq: 4 })
    const two = await store('empty.db')
    await expect(two.open('main')).rejects.toMatchObject(ofMain({ first: 1, last: 2 }))
    await two.close()
    const again = await (await store('same.db')).open('main')
    await again.append([draft(5)])
    expect(again.head).toBe(5)
  }),
)

test(
  'a stream that somebody else wrote to is refused, by name and place',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const one = await store('same.db')
    const log = await one.open('main')
    await log.append(drafts(1, 2))
    const { js } = await stranger()
    await js.publish(subject, 'hello')
    const foreign = refused('corrupt', { message: expect.stringContaining(`${stream} (${subject})`) })
    await expect(log.append([draft(3)])).rejects.toMatchObject(foreign)
    await expect(log.recover()).rejects.toMatchObject(foreign)
    await one.close()
    await expect((await store('same.db')).open('main')).rejects.toMatchObject(foreign)
    await expect((await store('empty.db')).open('main')).rejects.toMatchObject(foreign)
  }),
)

test(
  'a stream that was deleted, or made anew by another gateway, is refused',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const one = await store('same.db')
    await (await one.open('main')).append(drafts(1, 2))
    await one.close()
    const { manager } = await stranger()
    await manager.streams.delete(stream)
    const two = await store('same.db')
    await expect(two.open('main')).rejects.toMatchObject(ofMain({ known: 2 }))
    await two.close()
    const other = await store('empty.db')
    await (await other.open('main')).append([draft(1)])
    await other.close()
    const anew = ofMain({ epoch: expect.any(String) })
    await expect((await store('same.db')).open('main')).rejects.toMatchObject(anew)
  }),
)

test(
  'a stream that keeps less than is asked for is refused with what differs',
  withNats(async () => {
    const { store, stranger } = await openNats()
    const { manager } = await stranger()
    const subjects = ['meup.space.5.>', 'meup.pruned.5.>', 'meup.snapshot.5.>']
    await manager.streams.add({ name: stream, subjects, storage: 'memory', max_age: 60_000_000_000 })
    const differences = expect.arrayContaining(['storage is "memory"', 'max_age is 60000000000'])
    const other = refused('server', { stream, differences })
    await expect((await store()).open('main')).rejects.toMatchObject(other)
  }),
)

test(
  'servers that are not there, that refuse, or that have no JetStream are named with what to do',
  withNats(async () => {
    const { store, folder } = await openNats({ more: 'authorization { user: gateway, password: secret }' })
    await expect(store()).rejects.toMatchObject(
      refused('server', { reason: expect.stringContaining('Authorization') }),
    )
    const credentials = join(folder, 'gateway.creds')
    const unread = refused('server', { path: credentials })
    await expect(store('a.db', { credentials })).rejects.toMatchObject(unread)
    writeFileSync(credentials, 'not credentials')
    await expect(store('b.db', { credentials })).rejects.toMatchObject({ name: 'LogError', code: 'server' })
    const away = { servers: ['nats://127.0.0.1:1'] }
    await expect(store('c.db', away)).rejects.toMatchObject(
      refused('unavailable', { doing: 'connecting to nats://127.0.0.1:1' }),
    )
  }),
)

test(
  'a gateway that starts while the servers have nobody to lead them waits for that, and says once for what',
  { timeout: 120_000 },
  withNats(async () => {
    const { nats, store } = await openNats({ nodes: 3 })
    const [, ...others] = nats.nodes
    for (const node of others) node.signal('SIGSTOP')
    const warned: string[] = []
    const logger = {
      info: () => {},
      warn: ({ doing }: { doing?: string }, message: string) => {
        if (message.includes('asked again')) warned.push(String(doing))
      },
      error: () => {},
    }
    const servers = nats.servers.slice(0, 1)
    const opening = store('late.db', { servers, logger })
    await expect.poll(() => warned).toEqual([`connecting to ${servers[0]}`])
    for (const node of others) node.signal('SIGCONT')
    const log = await (await opening).open('main')
    await log.append([draft(1)])
    expect(log.head).toBe(1)
    expect(warned).toEqual([...new Set(warned)])
  }),
)

test(
  'an envelope that no message can hold is refused with the setting to raise',
  withNats(async () => {
    const { store } = await openNats({ more: 'max_payload: 64KB' })
    const log = await (await store()).open('main')
    const large = { ...draft(1), body: Buffer.alloc(70_000, 'x') }
    await expect(log.append([large])).rejects.toMatchObject(refused('server', { id: 'e1' }))
    const many = drafts(1, 300).map((each) => ({ ...each, body: Buffer.alloc(1000, 'x') }))
    await log.append(many)
    expect(log.head).toBe(300)
  }),
)

for (const text of ['hello', '{"space":"main"}\n', '{"space":"main","sender":"x"}', '\n', '\u0000']) {
  test(
    `a message of a stranger to all gateways is skipped and reported: ${JSON.stringify(text)}`,
    withNats(async () => {
      const { store, stranger } = await openNats()
      const skipped: string[] = []
      const ignore = (): void => {}
      const warn = (_: object, message: string): void => void skipped.push(message)
      const one = await store('one.db', { logger: { info: ignore, error: ignore, warn } })
      const log = await one.open('main')
      const listener = { onRows: ignore, onPruned: ignore, onLeaderLost: ignore, onNote: ignore }
      log.shared?.listen({ ...listener, onRequest: () => ({}) })
      const { connection } = await stranger()
      for (const _ of [1, 2]) connection.publish('meup.all.main', text)
      await connection.flush()
      const report = 'a message between gateways is skipped'
      await expect.poll(() => skipped).toEqual([report, report])
    }),
  )
}
