import {
  type Draft,
  type Entry,
  type EnvelopeLog,
  type LogStore,
  memoryStore,
  observedStore,
} from '@meup/gateway'
import { createTestGateway, describeEnvelopeLog, dialInMemory, testToken } from '@meup/gateway/testing'
import { describe, expect, test, vi } from 'vitest'

/** For machines that do much else. */
const within = { timeout: 15_000 }

describeEnvelopeLog(
  'observed log',
  async () => {
    const spaces = new Map()
    const stores: LogStore[] = []
    const open = (): LogStore => {
      const store = observedStore(memoryStore(spaces), async () => () => {})
      stores.push(store)
      return store
    }
    const close = () => Promise.all(stores.map((store) => store.close()))
    const reopen = async () => {
      await close()
      return open()
    }
    return { store: open(), reopen, dispose: async () => void (await close()) }
  },
  { describe, test },
)

/** A gateway on a store that is observed, what its observer was told, and what a participant was. */
async function observed(inner: LogStore = memoryStore()) {
  const received: string[] = []
  const heard: string[] = []
  const note = ({ seq, kind }: Pick<Entry, 'seq' | 'kind'>): string => `${seq} ${kind}`
  const store = observedStore(inner, async (space, log) => {
    received.push(`${space} from ${log.head}`)
    return (entries) => received.push(...entries.map(note))
  })
  const gateway = await createTestGateway({ participants: { ana: ['*'] }, store })
  const request = { space: 'test', token: testToken('ana') }
  const line = await dialInMemory(gateway, request, {
    message: (text) => {
      const envelope = JSON.parse(text) as Entry
      if (envelope.seq !== undefined) heard.push(note(envelope))
    },
    close: () => {},
  })
  const say = (id: string): void => line.send(JSON.stringify({ id, kind: 'chat', payload: { message: id } }))
  return { gateway, received, heard, say }
}

test('an observer is told each envelope once, in order, and all of it before the store is closed', async () => {
  const { gateway, received, heard, say } = await observed()
  for (const id of ['a', 'b', 'c']) say(id)
  await vi.waitFor(() => expect(heard).toHaveLength(4), within)
  await gateway.close()
  expect(received).toEqual([
    'test from 0',
    '1 system.space',
    '2 system.space',
    '3 system.presence',
    '4 chat',
    '5 chat',
    '6 chat',
    '7 system.presence',
  ])
})

test('nobody waits for an observer: it is told after the delivery', async () => {
  const order: string[] = []
  const store = observedStore(memoryStore(), async () => () => order.push('observed'))
  const log = await store.open('test')
  const fields = {
    seq: 1,
    id: 'e1',
    ts: '',
    from: 'ana',
    kind: 'chat',
    body: new Uint8Array(),
    content: new Uint8Array(),
  }
  await log.append([fields])
  order.push('delivered')
  await store.close()
  expect(order).toEqual(['delivered', 'observed'])
})

test('what a failed commit has stored all the same is told; what it has not, never', async () => {
  const faults: ('before' | 'after')[] = []
  const disk = memoryStore()
  const failing: LogStore = {
    async open(space) {
      const log = await disk.open(space)
      const append = async (batch: readonly Draft[]): Promise<void> => {
        const fault = faults.shift()
        if (fault === 'before') throw new Error('the disk is full')
        await log.append(batch)
        if (fault === 'after') throw new Error('the disk is gone')
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { append })
    },
    close: () => disk.close(),
  }
  const { gateway, received, heard, say } = await observed(failing)
  await vi.waitFor(() => expect(heard).toEqual(['3 system.presence']), within)
  faults.push('after')
  say('stored')
  await vi.waitFor(() => expect(heard).toContain('4 chat'), within)
  faults.push('before')
  say('lost')
  await vi.waitFor(
    () => {
      say('after')
      expect(heard).toContain('5 chat')
    },
    { timeout: 10_000 },
  )
  await gateway.close()
  expect(faults).toEqual([])
  expect(received.filter((each) => each.endsWith('chat'))).toEqual(['4 chat', '5 chat'])
})
