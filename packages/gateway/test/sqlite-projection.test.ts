import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { draftOf, randomDrafts } from '@meup/gateway/testing'
import { reasoningEvent } from '@meup/views'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { contentsOf, expectedOf } from '../src/testing/projection-fixtures.js'
import { connect, dump, openProjected, projected } from './projected.js'
import { temporaryFile } from './support.js'

const drafts = randomDrafts(31, 700)

/** The file as it is at this moment, as a crash would leave it. */
function crashed(path: string): string {
  const copy = temporaryFile('crashed.db')
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`)
  return copy
}

describe('turns and steps in SQLite', () => {
  test('go on after a crash, wherever it came, and end up the same', async () => {
    const { path, log, projection, db } = await projected([])
    await log.append(drafts)
    const copies: [seq: number, path: string, known: unknown][] = []
    for (const seq of [1, 456, 457]) {
      await projection.advance(seq)
      copies.push([seq, crashed(path), dump(db)])
    }
    const ends = await projection.advance(drafts.length)
    const whole = dump(db)
    for (const [seq, copy, known] of copies) {
      const again = await openProjected(copy)
      expect(again.projection.seq).toBe(seq)
      expect(dump(again.db)).toEqual(known)
      const later = await again.projection.advance(drafts.length)
      expect(later.filter((end) => end.seq > 457)).toEqual(ends)
      expect(later.every((end) => end.seq > seq)).toBe(true)
      expect(dump(again.db)).toEqual(whole)
      expect(again.repairs).toEqual([])
    }
  })

  test('go on with the log while they are pruned, with the same in the end', async () => {
    const all = randomDrafts(32, 2500)
    const { log, projection } = await projected(all.slice(0, 2400))
    const since = all[2000]?.ts ?? ''
    await projection.keep(2000)
    await log.append(all.slice(2400))
    const done: string[] = []
    const pruned = projection.prune(since).then(() => done.push('pruned'))
    const advanced = projection.advance(all.length).then(() => done.push('advanced'))
    await Promise.all([pruned, advanced])
    expect(done).toEqual(['advanced', 'pruned'])
    expect(await contentsOf(projection)).toEqual(expectedOf(all, log, { since }))
  })

  test('are the same to the byte when they are made again', async () => {
    const { projection, db } = await projected(drafts)
    const before = dump(db)
    await projection.rebuild()
    expect(dump(db)).toEqual(before)
  })

  test('are taken from the log again where the snapshot is damaged, and the operator is told', async () => {
    const { path, store, db } = await projected(drafts.slice(0, 600))
    await store.close()
    expect(db.prepare('SELECT seq, is_base FROM fold_snapshots').raw().all()).toEqual([[600, 0]])
    db.exec("UPDATE fold_snapshot_parts SET bytes = CAST('{}' AS BLOB)")
    const { log, projection, repairs } = await openProjected(path)
    await log.append(drafts.slice(600))
    await projection.advance(drafts.length)
    expect(repairs).toEqual(['the snapshot at seq 600 is damaged: the log is read again'])
    const before = dump(db)
    await projection.rebuild()
    expect(dump(db)).toEqual(before)
  })

  test('begin anew where neither snapshots nor the log can tell how it was', async () => {
    const { path, store, log, projection, db } = await projected(drafts.slice(0, 600))
    await projection.keep(300)
    await projection.prune(drafts[300]?.ts ?? '')
    await log.prune(300, Buffer.from('state'))
    await store.close()
    db.exec("UPDATE fold_snapshot_parts SET bytes = CAST('{}' AS BLOB)")
    const again = await openProjected(path)
    await again.log.append(drafts.slice(600))
    expect(await again.projection.advance(drafts.length)).not.toEqual([])
    expect(again.repairs).toEqual([
      'The snapshots of turns and steps are damaged, and the log has been pruned.',
      'the snapshot at seq 600 is damaged: the log is read again',
      'the snapshot at seq 300 is damaged: the log is read again',
    ])
    expect(again.projection.seq).toBe(drafts.length)
    const steps = await again.projection.steps({ limit: 9999 })
    expect(steps.length).toBeGreaterThan(50)
    expect(steps.every(({ step }) => step.source.seq > 300)).toBe(true)
  })

  test('begin anew where the log was pruned further than they had come', async () => {
    const { log, projection, repairs } = await projected(drafts)
    await log.append(
      randomDrafts(34, 900)
        .slice(700)
        .map((draft) => ({ ...draft, id: `more-${draft.seq}` })),
    )
    await log.prune(800, Buffer.from('state'))
    await projection.advance(900)
    expect(repairs).toEqual(['The log has been pruned further than turns and steps had come.'])
    expect(projection.seq).toBe(900)
    const steps = await projection.steps({ limit: 9999 })
    expect(steps.length).toBeGreaterThan(10)
    expect(steps.every(({ step }) => step.source.seq > 800)).toBe(true)
  })

  test.for([
    ['a turn', "UPDATE turns SET record = '{' WHERE turn_number = 2"],
    ['what is said of a turn', "UPDATE turns SET record = '{}' WHERE turn_number = 2"],
    ['all that is said of turns', "UPDATE turns SET record = 'null'"],
    ['what is said of a decision', "UPDATE tool_decisions SET record = '{}'"],
    ['all that is said of decisions', "UPDATE tool_decisions SET record = 'null'"],
    ['what is said of a batch', "UPDATE batch_ends SET narrative = '{}'"],
    ['a decision', "UPDATE tool_decisions SET record = ''"],
    ['the end of a batch', "UPDATE batch_ends SET narrative = 'x'"],
  ] as const)('are made again where %s is damaged, before anybody is answered', async ([, damage]) => {
    const { projection, repairs, db } = await projected(drafts.slice(0, 250))
    const before = dump(db)
    const ask = () =>
      Promise.all([
        projection.trail({ limit: 9999 }),
        projection.ends({ after: 0, through: 9999, limit: 9999 }),
        projection.steps({ limit: 9999 }),
      ])
    const answers = await ask()
    db.exec(damage)
    expect(await ask()).toEqual(answers)
    expect(repairs).toEqual([expect.stringContaining('is damaged')])
    expect(dump(db)).toEqual(before)
  })

  test('wait for another that writes, and tell nothing twice when they gave up', {
    timeout: 30_000,
  }, async () => {
    const { log, projection, db } = await projected([])
    await log.append(drafts)
    const first = await projection.advance(100)
    db.exec('BEGIN IMMEDIATE')
    await expect(projection.advance(500)).rejects.toMatchObject({ name: 'LogError', code: 'io' })
    expect(projection.seq).toBe(100)
    db.exec('ROLLBACK')
    const rest = await projection.advance(drafts.length)
    const all = await projection.ends({ after: 0, through: drafts.length, limit: 9999 })
    const told = (ends: typeof all) => ends.map((end) => [end.seq, reasoningEvent(end)])
    expect(told([...first, ...rest])).toEqual(told(all))
    const before = dump(db)
    await projection.rebuild()
    expect(dump(db)).toEqual(before)
  })

  test('keep no append waiting so long that it fails', async () => {
    const { log, projection } = await projected([])
    const many = randomDrafts(32, 4000)
    await log.append(many.slice(0, 3000))
    const appended: Promise<void>[] = []
    const advanced = projection.advance(3000)
    for (let at = 3000; at < 4000; at++) appended.push(log.append(many.slice(at, at + 1)))
    await Promise.all([advanced, ...appended])
    await projection.advance(4000)
    expect([log.head, projection.seq]).toEqual([4000, 4000])
  })

  test('of a turn with many calls only what changed is written', async () => {
    const { log, projection, db } = await projected([])
    db.exec(`
      CREATE TABLE written (turn TEXT, number INTEGER);
      CREATE TRIGGER added AFTER INSERT ON tool_decisions BEGIN INSERT INTO written VALUES (NEW.turn_id, NEW.number); END;
      CREATE TRIGGER changed AFTER UPDATE ON tool_decisions BEGIN INSERT INTO written VALUES (NEW.turn_id, NEW.number); END;
    `)
    const calls = 60
    const start = draftOf(1, {
      kind: 'reasoning.start',
      from: 'ana',
      id: 'r',
      payload: { message: 'Counting' },
    })
    const rest = Array.from({ length: calls }, (_, index) => [
      draftOf(2 * index + 2, {
        ...{ kind: 'mcp.request', from: 'ana', id: `c${index}`, context: 'r' },
        payload: { method: 'tools/call', params: { name: 'count', arguments: { index } } },
      }),
      draftOf(2 * index + 3, {
        ...{ kind: 'mcp.response', from: 'ben', correlationId: `c${index}` },
        payload: { result: { content: [{ type: 'text', text: `${index}` }] } },
      }),
    ]).flat()
    await log.append([start, ...rest])
    for (let seq = 1; seq <= log.head; seq++) await projection.advance(seq)
    expect(db.prepare('SELECT count(*) FROM written').pluck().get()).toBe(2 * calls)
    expect(db.prepare('SELECT count(*) FROM tool_decisions').pluck().get()).toBe(calls)
  })

  test('store now and then what makes a restart quick, and keep no more of it than is of use', async () => {
    const chats = Array.from({ length: 11_000 }, (_, index) =>
      draftOf(index + 1, {
        kind: 'chat',
        from: 'ana',
        context: 'aside',
        payload: { text: 'x'.repeat(2000) },
      }),
    )
    const { projection, db } = await projected(chats)
    const saved = () =>
      db.prepare<[], number[]>('SELECT seq, is_base FROM fold_snapshots ORDER BY seq').raw().all()
    const [[newest = 0] = []] = saved()
    expect(saved()).toHaveLength(1)
    expect(newest).toBeGreaterThanOrEqual(5000)
    await projection.keep(2000)
    await projection.keep(3000)
    expect(saved()).toEqual([
      [2000, 1],
      [3000, 1],
      [newest, 0],
    ])
    const parts = db.prepare<[], number>('SELECT DISTINCT seq FROM fold_snapshot_parts ORDER BY seq').pluck()
    expect(parts.all()).toEqual([2000, 3000, newest])
  })

  verifies(
    'A22',
    'are whole after kill -9: what a page of the log did is there, or nothing of it',
    async () => {
      const path = temporaryFile('log.db')
      const script = fileURLToPath(new URL('./fixtures/project-until-killed.mjs', import.meta.url))
      for (const seed of ['33', '33']) {
        const child = spawn(process.execPath, [script, path, seed], { stdio: ['ignore', 'pipe', 'inherit'] })
        const ended = once(child, 'close')
        let [lines, seen] = [0, 0]
        for await (const line of createInterface(child.stdout)) {
          seen = Number(line)
          if (++lines === 20) child.kill('SIGKILL')
        }
        await ended
        const left = dump(connect(path))
        const { projection, log, db, store } = await openProjected(path)
        expect(projection.seq).toBeGreaterThanOrEqual(seen)
        await projection.rebuild()
        expect(dump(db)).toEqual(left)
        await projection.advance(log.head)
        const whole = dump(db)
        await projection.rebuild()
        expect(dump(db)).toEqual(whole)
        await store.close()
      }
    },
    { timeout: 60_000 },
  )

  verifies(
    'A22',
    'are written together: ten thousand steps in a few transactions',
    async () => {
      const thoughts = Array.from({ length: 10_000 }, (_, index) =>
        draftOf(index + 1, {
          ...{ kind: 'reasoning.thought', from: 'ana', ...(index > 0 && { context: 'e1' }) },
          ...(index === 0 && { kind: 'reasoning.start' }),
          payload: { message: `thought ${index}` },
        }),
      )
      const { log, projection, db } = await projected([])
      await log.append(thoughts)
      db.exec(`
      CREATE TABLE commits (seq INTEGER);
      CREATE TRIGGER moved AFTER UPDATE OF seq ON projections BEGIN INSERT INTO commits VALUES (NEW.seq); END;
    `)
      await projection.advance(10_000)
      expect(db.prepare('SELECT count(*) FROM reasoning_steps').pluck().get()).toBe(9999)
      expect(db.prepare('SELECT count(*) FROM commits').pluck().get()).toBe(Math.ceil(10_000 / 256))
    },
    { timeout: 60_000 },
  )
})
