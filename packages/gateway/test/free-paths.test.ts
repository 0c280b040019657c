import { memoryStore, sqliteStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { ofKind, type Sent } from './client.js'
import { start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })
const begin = (id: string, context?: string): Sent => ({
  id,
  kind: 'reasoning.start',
  ...(context && { context }),
})
const thought = (context: string): Sent => ({
  kind: 'reasoning.thought',
  context,
  payload: { message: 'hm' },
})

describe('a free path', () => {
  const taken = { code: 'duplicate_id', details: { path: '/id' } }

  test.each(['memory', 'SQLite'])('that others think in cannot be taken over: %s', async (kind) => {
    const spaces = new Map()
    const path = temporaryFile('log.db')
    const open = async () => {
      const store = kind === 'memory' ? memoryStore(spaces) : await sqliteStore({ path })
      return start({ participants, store })
    }
    const running = await open()
    const [alice, bob, mallory] = [
      await running.connect('alice'),
      await running.connect('bob'),
      await running.connect('carol'),
    ]
    await alice.accepted(thought('review-1'))
    await bob.accepted(thought('review-2/security'))
    await bob.accepted({ ...chat('aside'), context: 'review-3', to: ['alice'] })
    const roots = ['review-1', 'review-2', 'review-3']
    for (const id of roots) {
      expect(await mallory.refused(begin(id))).toMatchObject(taken)
      const hide = { kind: 'observe.visibility', payload: { context: id, reasoningVisible: false } }
      expect(await mallory.refused(hide)).toMatchObject({ code: 'run_not_active' })
    }
    expect(await alice.refused(begin('review-1', 'review-2'))).toMatchObject(taken)
    await running.close()

    const again = await open()
    const returned = await again.connect('carol')
    for (const id of roots) expect(await returned.refused(begin(id))).toMatchObject(taken)
    for (const id of ['review', 'security', 'review-10']) await returned.accepted(begin(id))
  })

  test('cannot be taken over before it is committed', async () => {
    const { connect } = await start({ participants })
    const alice = await connect('alice')
    for (const sent of [thought('review-1/deep'), begin('review-1')]) alice.send({ id: 'first', ...sent })
    expect(await alice.next(ofKind('system.error'))).toMatchObject({
      correlationId: 'review-1',
      payload: taken,
    })
  })

  test('is no reason to refuse a start that is sent again', async () => {
    const { connect } = await start({ participants })
    const alice = await connect('alice')
    const begun = await alice.accepted(begin('run'))
    await alice.accepted(thought('run'))
    expect(await alice.accepted(begin('run'))).toEqual(begun)
  })
})
