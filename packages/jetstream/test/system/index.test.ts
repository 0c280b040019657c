import { expect, test } from 'vitest'
import { indexedIn, inMemory, randomFields } from '../../../gateway/test/indexed.js'
import { openNats, withNats } from '../nats.js'

test(
  'the index of a log in JetStream is that of the same log in memory',
  withNats(async () => {
    const log = randomFields(31, 300)
    const { store } = await openNats()
    expect(await indexedIn(await store(), log)).toEqual(await inMemory(log))
  }),
)
