import { type DraftEntry, type Entry, type EnvelopeLog, type LogStore, memoryStore } from '@meup/gateway'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import { expect, test, vi } from 'vitest'

/** A timeout for busy machines. */
const within = { timeout: 15_000 }

/**
 * A gateway with an observer. `received`: what the observer was called with; `heard`: what a participant received; `order`:
 * both in the order of time.
 */
async function observed(store: LogStore = memoryStore()) {
  const received: string[] = []
  const heard: string[] = []
  const order: string[] = []
  const note = ({ seq, kind }: Pick<Entry, 'seq' | 'kind'>): string => `${seq} ${kind}`
  const gateway = await createTestGateway({
    participants: { ana: ['*'] },
    store,
    observe: async (space, log) => {
      received.push(`${space} from ${log.head}`)
      return (entries) => {
        received.push(...entries.map(note))
        order.push(...entries.map((entry) => `observed ${note(entry)}`))
      }
    },
  })
  const request = { space: 'test', token: testToken('ana') }
  const line = await dialInMemory(gateway, request, {
    message: (text) => {
      const envelope = JSON.parse(text) as Entry
      if (envelope.seq === undefined) return
      heard.push(note(envelope))
      order.push(`delivered ${note(envelope)}`)
    },
    close: () => {},
  })
  const say = (id: string): void => line.send(JSON.stringify({ id, kind: 'chat', payload: { message: id } }))
  return { gateway, received, heard, order, say }
}

test('an observer is given each envelope once, in order, and all of it before the store is closed', async () => {
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

test('nobody waits for an observer: it is called after the delivery', async () => {
  const { gateway, heard, order, say } = await observed()
  await vi.waitFor(() => expect(heard).toEqual(['3 system.presence']), within)
  say('a')
  await vi.waitFor(() => expect(order).toContain('observed 4 chat'), within)
  expect(order.slice(-2)).toEqual(['delivered 4 chat', 'observed 4 chat'])
  await gateway.close()
})

test('what a failed commit has stored all the same is received; what it has not, never', async () => {
  const faults: ('before' | 'after')[] = []
  const disk = memoryStore()
  const failing: LogStore = {
    async open(space) {
      const log = await disk.open(space)
      const append = async (batch: readonly DraftEntry[]): Promise<void> => {
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
