import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { start } from '../../../gateway/test/support.js'
import { streamTexts } from '../../src/errors.js'
import { openNats, withNats } from '../nats.js'
import { natsOperator } from '../nats-operator.js'

const seconds = (): number => Math.floor(Date.now() / 1000)
const participants = { alice: ['*'], bob: ['*'] }
const chat = (id: string) => ({ id, kind: 'chat', payload: { message: id } })
const within = { timeout: 30_000 }
const refused = (text: string, details: object = {}) => ({
  name: 'LogError',
  code: 'server',
  message: expect.stringContaining(text.slice(0, text.indexOf('{'))),
  details,
})

test(
  'credentials that have expired are refused at the start, with what to do',
  withNats(async () => {
    const operator = natsOperator()
    const { store, folder } = await openNats({ more: operator.lines })
    const credentials = join(folder, 'gateway.creds')
    writeFileSync(credentials, operator.credentials({ expires: seconds() - 60 }))
    const violation = { reason: expect.stringContaining('Authorization Violation') }
    await expect(store('a.db', { credentials })).rejects.toMatchObject(
      refused(streamTexts.refused, violation),
    )
    writeFileSync(credentials, natsOperator().credentials())
    await expect(store('b.db', { credentials })).rejects.toMatchObject(refused(streamTexts.refused))
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
    // The gateway must notice that its credentials are refused before it sends anything.
    await expect.poll(ready, within).toBe(503)
    expect(await alice.refused(chat('meanwhile'))).toMatchObject({ code: 'unavailable' })
    const refusal = streamTexts.refused.slice(0, streamTexts.refused.indexOf('{'))
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
    await expect(store()).rejects.toMatchObject({ code: 'server', message: streamTexts.noJetStream })
    const operator = natsOperator({ jetstream: false })
    const other = await openNats({ more: operator.lines })
    const credentials = join(other.folder, 'gateway.creds')
    writeFileSync(credentials, operator.credentials())
    await expect(other.store('a.db', { credentials })).rejects.toMatchObject(refused(streamTexts.account))
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
    const named = (): boolean => said.some((text) => text.includes(streamTexts.noJetStream))
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
