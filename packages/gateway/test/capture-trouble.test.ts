import { type EnvelopeLog, type LogStore, memoryStore } from '@meup/gateway'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId } from './client.js'
import { operatorLog } from './guarded.js'
import { stage, twoCalls } from './turns.js'

/** A store that keeps the log, but neither turns nor steps. */
function withoutTurns(inner: LogStore): LogStore {
  const project = () => Promise.reject(new Error('the disk of the turns is gone'))
  return {
    open: async (space) => Object.assign(Object.create(await inner.open(space)) as EnvelopeLog, { project }),
    close: () => inner.close(),
  }
}

verifies(
  'I12',
  'a turn is answered though its reasoning cannot be kept in turns, and a reader of events takes nothing',
  async () => {
    const log = operatorLog()
    const staged = await stage({ store: withoutTurns(memoryStore()), logger: log.logger })
    const stalled = await staged.as('stranger').events()
    const ana = await staged.connect('ana')
    await staged.say(...twoCalls('it'))
    expect(await ana.next(byId('it-done'))).toMatchObject({ payload: { message: 'it is done' } })
    const { envelopes } = await staged.as('ana').history('kind=reasoning.thought')
    expect(envelopes.map(({ payload }) => payload.message)).toEqual(['first look, then it', 'now'])
    const { status } = await staged.as('ana').get('/turns?thread_id=test/ben')
    expect(status).toBeGreaterThanOrEqual(500)
    const told = 'turns and steps cannot be kept up; this is tried again'
    expect(log.lines).toContainEqual(expect.objectContaining({ level: 'error', message: told }))
    await staged.say(...twoCalls('more'))
    expect(await ana.next(byId('more-done'))).toMatchObject({ payload: { message: 'more is done' } })
    expect(stalled.all).toEqual([])
  },
)
