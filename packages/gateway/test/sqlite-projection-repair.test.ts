import { randomDrafts } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { dump, projected } from './projected.js'

const drafts = randomDrafts(31, 700)

describe('turns and steps in SQLite, where they cannot be made', () => {
  test('are shown to nobody while they are made again, though that fails half-way', {
    timeout: 60_000,
  }, async () => {
    const { projection, repairs, db } = await projected(drafts)
    const whole = dump(db)
    const all = await projection.trail({ limit: 9999 })
    db.exec("UPDATE turns SET record = 'null'")
    db.exec(`
      CREATE TRIGGER half_way BEFORE UPDATE OF seq ON projections WHEN NEW.seq > 500
        BEGIN SELECT RAISE(ABORT, 'no further'); END;
    `)
    for (const ask of [
      () => projection.trail({ limit: 9999 }),
      () => projection.steps({ limit: 9999 }),
      () => projection.ends({ after: 0, through: 9999, limit: 9999 }),
      () => projection.advance(drafts.length),
    ]) {
      await expect(ask()).rejects.toMatchObject({
        code: 'io',
        message: expect.stringContaining('no further'),
      })
      expect(projection.seq).toBe(256)
    }
    db.exec('DROP TRIGGER half_way; BEGIN IMMEDIATE')
    await expect(projection.trail({ limit: 9999 })).rejects.toMatchObject({ code: 'io' })
    db.exec('ROLLBACK')
    expect(await projection.advance(drafts.length)).toEqual([])
    expect(projection.seq).toBe(drafts.length)
    expect(await projection.trail({ limit: 9999 })).toEqual(all)
    expect(dump(db)).toEqual(whole)
    expect(repairs).toHaveLength(1)
  })

  test('stop before a row of the log that cannot be read, and say which it is', async () => {
    const { log, projection, db } = await projected([])
    await log.append(drafts)
    await projection.advance(456)
    db.exec(
      "DROP TRIGGER envelopes_refuse_update; UPDATE envelopes SET body = CAST('{' AS BLOB) WHERE seq = 500",
    )
    await expect(projection.advance(drafts.length)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(/^Row 500 of the log/),
    })
    expect(projection.seq).toBe(456)
  })
})
