import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogStore, memoryStore } from '@meup/gateway'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId } from './client.js'
import { operatorLog } from './guarded.js'
import { stage, twoCalls } from './turns.js'

/** A store that keeps the log, but next to whose path no index file can be created. */
function withoutTurns(inner: LogStore): LogStore {
  return {
    path: join(tmpdir(), 'nothing', 'is', 'here', 'log.db'),
    open: (space) => inner.open(space),
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
    const received = 'turns cannot be indexed; this is tried again'
    expect(log.lines).toContainEqual(expect.objectContaining({ level: 'error', message: received }))
    await staged.say(...twoCalls('more'))
    expect(await ana.next(byId('more-done'))).toMatchObject({ payload: { message: 'more is done' } })
    expect(stalled.all).toEqual([])
  },
)
