import type { Entry } from '@meup/gateway'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ParsedRows } from '../src/core/parsed-rows.js'
import { begin, chat, conclude, stage, stores, twoCalls } from './turns.js'

function createRow(seq: number, message = 'hello'): Entry {
  const fields = { id: `e${seq}`, ts: '2026-01-02T03:04:05.678Z', from: 'ana', kind: 'chat' }
  const body = Buffer.from(JSON.stringify({ protocol: 'meup/v0.3', ...fields, payload: { message } }))
  return { seq, ...fields, body }
}

function createParsedRows() {
  const erased = new Set<number>()
  const log = { oldest: 1 }
  return { erased, log, rows: new ParsedRows({ log, wasErased: (seq) => erased.has(seq) }) }
}

/** Whether the envelope of a row is cached: then two calls of `get` return the same object. */
function isKept(rows: ParsedRows, seq: number): boolean {
  const first = rows.get(createRow(seq))
  return rows.get(createRow(seq)) === first
}

test('a row is parsed once', () => {
  const { rows } = createParsedRows()
  const first = rows.get(createRow(7))
  expect(first).toMatchObject({ seq: 7, id: 'e7', payload: { message: 'hello' } })
  expect(rows.get(createRow(7))).toBe(first)
  rows.clear()
  expect(rows.get(createRow(7))).not.toBe(first)
})

test('an erased row is not kept, though its body is still there', () => {
  const { rows, erased } = createParsedRows()
  expect(isKept(rows, 1)).toBe(true)
  erased.add(1)
  expect([isKept(rows, 1), isKept(rows, 2)]).toEqual([false, true])
})

test('rows are dropped once the log is pruned', () => {
  const { rows, log } = createParsedRows()
  const first = rows.get(createRow(5))
  log.oldest = 4
  expect(rows.get(createRow(5))).not.toBe(first)
})

test('a mebibyte of bodies is kept, the latest ones, and no large body', () => {
  const { rows } = createParsedRows()
  const first = rows.get(createRow(1))
  const text = 'x'.repeat(100_000)
  for (let seq = 2; seq <= 10; seq++) rows.get(createRow(seq, text))
  expect(rows.get(createRow(1))).toBe(first)
  for (let seq = 11; seq <= 20; seq++) rows.get(createRow(seq, text))
  expect(rows.get(createRow(1))).not.toBe(first)
  const large = createRow(21, text.repeat(2))
  expect(rows.get(large)).not.toBe(rows.get(large))
})

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    for (const each of Object.values(Object.freeze(value))) freeze(each)
  return value
}

test.each(['memory', 'SQLite'] as const)(
  'views of a log in %s leave the envelopes as they are',
  async (kind) => {
    const { get } = ParsedRows.prototype
    const spy = vi.spyOn(ParsedRows.prototype, 'get').mockImplementation(function (this: ParsedRows, row) {
      return freeze(get.call(this, row))
    })
    onTestFinished(() => spy.mockRestore())
    const { say, as } = await stage({ store: await stores[kind]() })
    await say(
      ...twoCalls('a'),
      ['ana', chat('private', 'psst, password=hunter2hunter2', { to: ['ben'] })],
      ['ben', begin('run', 'private', 'hm'), conclude('run')],
    )
    const paths = [
      ...[
        '/turns?thread_id=test/ben',
        '/turns?thread_id=test/ben&sizes=true',
        '/audit',
        '/audit?phase=error',
      ],
      ...['/audit/export?format=markdown', '/contexts/a-run', '/contexts/run'],
    ]
    for (const reader of ['ana', 'stranger', 'auditor', 'ben']) {
      for (const path of paths) expect([200, 404]).toContain((await as(reader).get(path)).status)
      expect((await as(reader).get('/turns?thread_id=test/ben')).status).toBe(200)
    }
    expect(spy.mock.calls.length).toBeGreaterThan(50)
  },
)
