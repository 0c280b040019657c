import { once } from 'node:events'
import { memoryStore } from '@meup/gateway'
import { expect, test } from 'vitest'
import { byId } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['chat'] }

/** Tests lengths around those at which the header of a frame changes (RFC 6455, section 5.2). */
test('frames of every length arrive as the bytes that they are', async () => {
  const { connect } = await start({ participants, store: memoryStore() })
  const [alice, bob] = [await connect('alice'), await connect('bob')]
  const first = await bob.accepted({ id: 'first', kind: 'chat', payload: { message: 'é' } })
  const overhead = Buffer.byteLength(JSON.stringify(first)) + 'last'.length - 'first'.length
  for (const length of [overhead, 300, 4000, 65_530, 65_536, 65_540, 200_000]) {
    const message = `é${'x'.repeat(length - overhead)}`
    for (const ids of [['last'], ['some', 'more']]) {
      const named = ids.map((id) => `${id}-${length}`)
      for (const id of named) alice.send({ id, kind: 'chat', payload: { message } })
      const frames = (await bob.until(byId(named.at(-1)))).filter(({ from }) => from === 'alice')
      expect(frames.map(({ id }) => id)).toEqual(named)
      for (const { payload } of frames) expect(payload).toEqual({ message })
    }
  }
  alice.ws.ping()
  await once(alice.ws, 'pong')
})
