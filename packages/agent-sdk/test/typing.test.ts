import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, test } from 'vitest'

test('typing reaches the others as an envelope without a seq, and cannot be sent as what is acknowledged', async () => {
  await using space = await createTestSpace({ participants: { ana: ['chat'], ben: ['chat'] } })
  const [ana, ben] = [await space.join('ana'), await space.join('ben')]
  const seen = new Promise((resolve) =>
    ben.on('envelope', ({ kind, from, seq }) => kind === 'observe.typing' && resolve([from, seq])),
  )
  ana.sendTyping()
  expect(await seen).toEqual(['ana', undefined])
  await expect(ana.send({ kind: 'observe.typing', payload: {} })).rejects.toThrow(TypeError)
})
