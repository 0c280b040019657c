import { isDeepStrictEqual } from 'node:util'
import { randomDrafts } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../../../test/support/soak.js'
import { addOne, changeOne, columnsOf, deleteOne, diceOf, disarm, projectionTables } from './damage.js'
import { projected } from './projected.js'

const drafts = randomDrafts(51, 160)
const limit = 9999
const threads = ['main/ana', 'main/ben', 'main/cleo']
const middle = drafts[80]?.ts ?? ''
/** What is older was pruned, though turns from then go on. */
const kept = drafts[40]?.ts ?? ''

type Projection = Awaited<ReturnType<typeof projected>>['projection']
type Ask = (projection: Projection) => Promise<unknown>

/** One question of each kind, whole and in parts. */
const questions = (turns: readonly string[]): readonly Ask[] => [
  (projection) => projection.trail({ limit }),
  (projection) => projection.trail({ limit: 4 }),
  (projection) => projection.trail({ after: turns[5] ?? '', limit: 3 }),
  ...threads.flatMap((thread): Ask[] => [
    (projection) => projection.trail({ thread, limit }),
    (projection) => projection.trail({ thread, turn: 3, limit }),
    (projection) => projection.turns({ thread, limit }),
    (projection) => projection.turns({ thread, before: 4, limit: 2 }),
    (projection) => projection.turns({ thread, before: 2, limit }),
    (projection) => projection.steps({ thread, turn: 3, limit }),
    (projection) => projection.steps({ thread, limit: 5 }),
  ]),
  (projection) => projection.steps({ limit }),
  (projection) => projection.steps({ limit: 6 }),
  (projection) => projection.steps({ before: 90, limit: 8 }),
  (projection) => projection.steps({ since: middle, phases: ['error', 'plan'], limit }),
  (projection) => projection.steps({ until: middle, agents: ['ana', 'ben'], limit }),
  ...turns
    .slice(0, 12)
    .flatMap((turn): Ask[] => [
      (projection) => projection.stepsOf(turn, { from: 0, limit }),
      (projection) => projection.stepsOf(turn, { from: 1, limit: 2 }),
    ]),
  (projection) => projection.ends({ after: 0, through: limit, limit }),
  (projection) => projection.ends({ after: 60, through: 120, limit: 5 }),
  (projection) => projection.ends({ after: 0, through: 50, limit }),
]

async function undamaged({ isPruned }: { isPruned: boolean }) {
  const { projection, repairs, db, log } = await projected(drafts)
  if (isPruned) {
    await projection.keep(40)
    await projection.prune(kept)
    await log.prune(40, Buffer.from('state'))
    await projection.rebuild()
  }
  disarm(db)
  const turns = (await projection.trail({ limit })).map(({ id }) => id)
  expect(turns.length).toBeGreaterThan(20)
  const asked = questions(turns)
  const answers = await Promise.all(asked.map((ask) => ask(projection)))
  return { projection, repairs, db, asked, answers }
}

describe.each(isSoak ? [{ isPruned: false }, { isPruned: true }] : [{ isPruned: true }])(
  'damaged turns and steps in SQLite ($isPruned)',
  ({ isPruned }) => {
    test.for(isSoak ? projectionTables : projectionTables.slice(0, 2))(
      'no answer is wrong, whatever becomes of a row of %s',
      { timeout: 180_000 },
      async (table) => {
        const { projection, repairs, db, asked, answers } = await undamaged({ isPruned })
        const dice = diceOf(table.length + (isPruned ? 100 : 0))
        const damages: [what: string, damage: () => unknown][] = [
          ['all deleted', () => db.exec(`DELETE FROM ${table}`)],
          ...[1, 2, 3].map((): [string, () => unknown] => ['one deleted', () => deleteOne(db, table, dice)]),
          ...[1, 2].map((): [string, () => unknown] => ['one added', () => addOne(db, table, dice)]),
          ...columnsOf(db, table).map((column): [string, () => boolean] => [
            `${column} changed`,
            () => changeOne(db, table, column, dice),
          ]),
        ]
        let done = 0
        for (const [what, damage] of damages) {
          if (damage() === false) continue
          done++
          // Each question first in turn: what notices the damage has it repaired for the others.
          const from = Math.floor(dice() * asked.length)
          for (let at = 0; at < asked.length; at++) {
            const index = (from + at) % asked.length
            const answer = await asked[index]?.(projection).catch(String)
            const isRefused = typeof answer === 'string' && answer.startsWith('LogError')
            if (!isRefused && !isDeepStrictEqual(answer, answers[index])) {
              expect(answer, `${what}: question ${index} is answered wrongly`).toEqual(answers[index])
            }
          }
          await projection.rebuild()
          for (const [index, ask] of asked.entries()) {
            expect(
              isDeepStrictEqual(await ask(projection), answers[index]),
              `${what}: repaired, question ${index}`,
            ).toBe(true)
          }
        }
        expect(done).toBeGreaterThan(damages.length / 2)
        expect(repairs.length).toBeGreaterThan(0)
      },
    )
  },
)
