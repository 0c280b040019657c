import { describe, expect, test } from 'vitest'
import { loadFoldFixtures } from './support/fold-fixtures.js'

const call = { id: 'c', kind: 'mcp.request', to: ['tool'] }
const open = { calls: { c: { state: 'open' } } }
const fixture = (expect: object, envelopes: readonly object[] = [call]): string =>
  JSON.stringify({ description: 'A call is open.', envelopes, expect })

/** Loads fixtures from texts, by file name. */
const load = (files: Readonly<Record<string, string>>) =>
  loadFoldFixtures(Object.keys(files), (name) => files[name] ?? '')

describe('a fixture of folds', () => {
  test('is named after what it shows, and filled in', () => {
    const delta = { kind: 'chat.delta', payload: { index: 0, text: 'be' } }
    const files = { '002-b-is-open.json': fixture(open, [call, delta]), '001-a-is-open.json': fixture(open) }
    const [first, second] = load(files)
    expect(first).toMatchObject({ name: 'a is open', welcome: undefined, expect: open })
    expect(second?.envelopes).toEqual([
      {
        ...{ protocol: 'meup/v0.3', id: 'c', seq: 1, ts: '2026-01-01T00:00:01.000Z', from: 'ana' },
        ...{ kind: 'mcp.request', to: ['tool'], payload: {} },
      },
      {
        ...{ protocol: 'meup/v0.3', id: 'e2', ts: '2026-01-01T00:00:02.000Z', from: 'ana' },
        ...{ kind: 'chat.delta', payload: { index: 0, text: 'be' } },
      },
    ])
  })

  test('may say more of a log that another one is about', () => {
    const more = { calls: { c: { from: 'ana', state: 'open' }, d: null }, contexts: { c: null } }
    expect(load({ '001-one.json': fixture(open), '002-two.json': fixture(more) })).toHaveLength(2)
  })

  test.each([
    ['no number', { 'a-call.json': fixture(open) }, 'a-call.json: name it NNN-what-it-shows.json'],
    ['capitals', { '001-A-call.json': fixture(open) }, '001-A-call.json: name it NNN-what-it-shows.json'],
    [
      'the number of another',
      { '001-one.json': fixture(open), '001-two.json': fixture(open, []) },
      '001-two.json has the number of 001-one.json',
    ],
    ['no JSON', { '001-one.json': '{' }, '001-one.json is no JSON'],
    [
      'facts that there are not',
      { '001-one.json': fixture({ turns: {} }) },
      '001-one.json: there are no facts "turns": participants, contexts, calls, grants, answers',
    ],
    [
      'what another one denies',
      { '001-one.json': fixture(open), '002-two.json': fixture({ calls: { c: { state: 'answered' } } }) },
      '002-two.json contradicts 001-one.json about calls.c',
    ],
    [
      'that there is none, where another one has one',
      { '001-one.json': fixture(open), '002-two.json': fixture({ calls: { c: null } }) },
      '002-two.json contradicts 001-one.json about calls.c',
    ],
  ])('is refused for %s', (_, files, message) => expect(() => load(files)).toThrow(message))
})
