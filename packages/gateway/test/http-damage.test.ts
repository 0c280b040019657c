import { sqliteStore } from '@meup/gateway'
import { expect, test } from 'vitest'
import { disarm } from './damage.js'
import { connect } from './projected.js'
import { rawEvents, story } from './reasoning-story.js'
import { temporaryFile } from './support.js'
import { stage } from './turns.js'

const readers = ['stranger', 'ana']
const paths = [
  '/turns?thread_id=test/ben',
  '/turns?thread_id=test/cleo',
  '/audit',
  '/audit?phase=execute',
  '/audit/export?format=markdown',
]

test('whatever the tables of turns and steps are made to say, nobody is told what is not so', {
  timeout: 120_000,
}, async () => {
  const path = temporaryFile('log.db')
  const { say, as, url } = await stage({ store: await sqliteStore({ path }) })
  await say(...story)
  /** What a busy machine cannot read in time is asked for again. */
  const read = async (reader: string, asked: string): Promise<string> => {
    const answer = await as(reader).get(asked)
    return answer.status === 503 ? read(reader, asked) : answer.text()
  }
  const told = async (reader: string) => {
    const answers = await Promise.all(paths.map((each) => read(reader, each)))
    return [...answers, await rawEvents(url, reader, { query: 'after=0' })]
  }
  const before = new Map<string, unknown>()
  for (const reader of readers) before.set(reader, await told(reader))
  expect(before.get('stranger')).not.toEqual(before.get('ana'))

  const db = connect(path)
  disarm(db)
  for (const damage of [
    `UPDATE turns SET record = replace(record, '"to":', '"tP":')`,
    `UPDATE tool_decisions SET record = replace(record, '"to":', '"tP":')`,
    `UPDATE batch_ends SET narrative = replace(narrative, '"to":', '"tP":')`,
    `UPDATE tool_decisions SET record = replace(record, 'to see', 'to seize')`,
    `UPDATE reasoning_steps SET content = replace(content, 'seen', 'sewn')`,
    `UPDATE reasoning_steps SET turn_id = (SELECT min(id) FROM turns)`,
    `UPDATE turns SET turn_number = turn_number + 7`,
    'DELETE FROM tool_decisions WHERE number = 1',
    'DELETE FROM turns WHERE turn_number = 2',
    'DELETE FROM reasoning_steps WHERE step_number = 1',
    "DELETE FROM step_places WHERE phase = 'execute'",
    'DELETE FROM batch_ends WHERE seq = (SELECT max(seq) FROM batch_ends)',
  ]) {
    for (const reader of readers) {
      expect(db.prepare(damage).run().changes, damage).toBeGreaterThan(0)
      expect(await told(reader), `${reader} after ${damage}`).toEqual(before.get(reader))
    }
  }
})
