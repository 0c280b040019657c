import { connect } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, test } from 'vitest'

/** A program as in a separate file: it connects as its environment specifies. */
async function greet(): Promise<void> {
  await using space = await connect()
  await space.answer((turn) => turn.reply(`Hello, ${turn.from}`))
}

const participants = { ana: ['*'], bot: ['chat'] }

test('a program that connects by itself runs in a test space', async () => {
  await using space = await createTestSpace({ participants })
  await space.run('bot', greet)
  const ana = await space.join('ana')
  expect((await ana.ask('Hello', { to: ['bot'] })).text).toBe('Hello, ana')
})

test('each program of a test space is the participant it was run as', async () => {
  await using space = await createTestSpace({ participants: { ...participants, other: ['chat'] } })
  await space.run('bot', greet)
  await space.run('other', greet)
  const ana = await space.join('ana')
  await ana.whenPresent(['bot', 'other'])
})

test('a program that ends before it connects says why, and leads nobody else into the space', async () => {
  await using space = await createTestSpace({ participants })
  const broken = async (): Promise<void> => {
    throw new Error('no key')
  }
  await expect(space.run('bot', broken)).rejects.toThrow('no key')
  await expect(space.run('bot', async () => {})).rejects.toThrow(/bot ended before/)
  await expect(connect({ space: 'test', url: 'http://127.0.0.1:1' })).rejects.toThrow(/127\.0\.0\.1:1/)
})
