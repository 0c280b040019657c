import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { start } from '../../../gateway/test/support.js'
import { openNats, withNats } from '../nats.js'
import { natsOperator } from '../nats-operator.js'

const seconds = (): number => Math.floor(Date.now() / 1000)
const participants = { alice: ['*'], bob: ['*'] }
const chat = (id: string) => ({ id, kind: 'chat', payload: { message: id } })
const within = { timeout: 30_000 }
const refused = (...words: string[]) => ({
  name: 'LogError',
  code: 'server',
  message: expect.stringMatching(new RegExp(words.join('.*'), 's')),
})

test(
  'credentials that have expired are refused at the start, with what to do',
  withNats(async () => {
    const operator = natsOperator()
    const { store, folder } = await openNats({ more: operator.lines })
    const credentials = join(folder, 'gateway.creds')
    writeFileSync(credentials, operator.credentials({ expires: seconds() - 60 }))
    await expect(store('a.db', { credentials })).rejects.toMatchObject(
      refused('refuses this gateway', 'Authorization Violation', 'credentials that are valid'),
    )
    writeFileSync(credentials, natsOperator().credentials())
    await expect(store('b.db', { credentials })).rejects.toMatchObject(refused('refuses this gateway'))
    writeFileSync(credentials, operator.credentials())
    await (await store('c.db', { credentials })).open('main')
  }),
)

test(
  'credentials that expire while a gateway runs: nothing is accepted, and it goes on by itself with new ones',
  withNats(async () => {
    const operator = natsOperator()
    const { store, folder } = await openNats({ more: operator.lines })
    const credentials = join(folder, 'gateway.creds')
    const said: string[] = []
    const note = (_: object, text: string): unknown => said.push(text)
    const logger = { info: note, warn: note, error: note }
    writeFileSync(credentials, operator.credentials({ expires: seconds() + 6 }))
    const { url, connect } = await start({
      participants,
      store: await store('a.db', { credentials, logger }),
    })
    const ready = async (): Promise<number> => (await fetch(`${url}/readyz`)).status
    const alice = await connect('alice')
    await alice.accepted(chat('before'))
    expect(await ready()).toBe(200)
    const away = (): boolean => said.some((text) => text.includes('is away'))
    await expect.poll(away, within).toBe(true)
    // The gateway notices the refusal without sending anything.
    await expect.poll(ready, within).toBe(503)
    expect(await alice.refused(chat('meanwhile'))).toMatchObject({ code: 'unavailable' })
    const refusal = 'The NATS server refuses this gateway'
    await expect.poll(() => said.filter((text) => text.startsWith(refusal)).length, within).toBeGreaterThan(0)
    writeFileSync(credentials, operator.credentials())
    await expect.poll(ready, within).toBe(200)
    await alice.accepted(chat('after'))
  }),
  60_000,
)

test(
  'a server without JetStream, and an account that may not use it, are refused with what to do',
  withNats(async () => {
    const { store } = await openNats({ jetstream: false })
    await expect(store()).rejects.toMatchObject(refused('has no JetStream', 'Start it with -js'))
    const operator = natsOperator({ jetstream: false })
    const other = await openNats({ more: operator.lines })
    const credentials = join(other.folder, 'gateway.creds')
    writeFileSync(credentials, operator.credentials())
    await expect(other.store('a.db', { credentials })).rejects.toMatchObject(
      refused('account', 'may not use JetStream', 'Enable'),
    )
  }),
)

test(
  'a server that comes back without JetStream is named; what is sent is refused until it has it again',
  withNats(async () => {
    const { nats, store } = await openNats()
    const said: string[] = []
    const note = (_: object, text: string): unknown => said.push(text)
    const logger = { info: note, warn: note, error: note }
    const { url, connect } = await start({ participants, store: await store('a.db', { logger }) })
    const ready = async (): Promise<number> => (await fetch(`${url}/readyz`)).status
    const alice = await connect('alice')
    await alice.accepted(chat('before'))
    const [server] = nats.nodes
    await server?.end('SIGTERM')
    await server?.start(false)
    const named = (): boolean => said.some((text) => text.includes('has no JetStream. Start it with -js'))
    await expect.poll(named, within).toBe(true)
    expect(await alice.refused(chat('meanwhile'))).toMatchObject({ code: 'unavailable' })
    expect(await ready()).toBe(503)
    await server?.end('SIGTERM')
    await server?.start()
    await expect.poll(ready, within).toBe(200)
    await alice.accepted(chat('after'))
  }),
  60_000,
)
