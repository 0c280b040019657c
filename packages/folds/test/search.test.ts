import { TextSearch } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'

const said = (message: unknown, more: Partial<Envelope> = {}): Envelope => ({
  ...{ protocol: 'meup/v0.3', id: 'x', ts: '2026-01-01T00:00:00.000Z', from: 'bob', kind: 'chat' },
  payload: { message },
  ...more,
})
const find = (query: string, envelope: Envelope) => new TextSearch(query).match(envelope)
const mayMatch = (query: string, envelope: Envelope): boolean =>
  new TextSearch(query).mayMatch(JSON.stringify(envelope))

test('every word is to be said, in any case and order, by whomever', () => {
  const envelope = said('Merge PR 42 (now)')
  for (const query of ['pr merge', 'MERGE', '(now)', 'bob 42', '', 'chat']) {
    expect([query, find(query, envelope) !== undefined]).toEqual([query, true])
    expect([query, mayMatch(query, envelope)]).toEqual([query, true])
  }
  expect(mayMatch('message', envelope)).toBe(true)
  for (const query of ['merge 43', 'eve']) {
    expect(find(query, envelope)).toBeUndefined()
    expect(mayMatch(query, envelope)).toBe(false)
  }
})

test('ranges are the words in the snippet', () => {
  const text = `${'before '.repeat(300)}the Needle, and again a needle ${'after '.repeat(300)}`
  const { snippet = '', ranges = [] } = find('needle', said(text)) ?? {}
  expect(ranges.map(([start, end]) => snippet.slice(start, end))).toEqual(['Needle', 'needle'])
  expect(snippet).toMatch(/^…before .*after…$|^…before .*…$/)
  expect(snippet.length).toBeLessThanOrEqual(202)
})

test.for([
  'guest-1',
  '2026-11-26',
  'a/b-c',
  'naïve',
  'Ünïcode',
  '日本語',
  '"quoted"',
  'back\\slash',
  'tab\tbed',
  'a😀b',
])('no text is passed over for how it is encoded: %s', (word) => {
  const [first = ''] = word.split('\t')
  const envelope = said(`says ${word} here`)
  expect(mayMatch(first, envelope)).toBe(true)
  expect(find(first, envelope)).toBeDefined()
})

test('words that invisible characters pull apart are found', () => {
  const envelope = said('pass\u200bword\u0008s')
  expect(mayMatch('passwords', envelope)).toBe(true)
  expect(find('passwords', envelope)?.snippet).toBe('passwords')
})

test('secrets by name, bytes and formal fields are not searched', () => {
  const payload = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'open', arguments: { apiKey: 'hush', headers: [{ name: 'Cookie', value: 'crumb' }] } },
    content: [{ type: 'image', mimeType: 'image/png', data: 'needle' }],
  }
  const envelope = said('', { kind: 'mcp.request', payload })
  for (const query of ['hush', 'crumb', 'needle', 'jsonrpc', 'png'])
    expect(find(query, envelope)).toBeUndefined()
  expect(find('open headers', envelope)).toBeDefined()
})

test('what is quoted is guarded, and a withheld text shows nothing of it', () => {
  const search = new TextSearch('key')
  const guarded = search.match(said('the key is sk-123'), (text) => text.replace('sk-123', '[redacted]'))
  expect(guarded?.snippet).toBe('the key is [redacted]')
  expect(search.match(said('the key is sk-123'), () => '[withheld]')).toEqual({
    snippet: '[withheld]',
    ranges: [],
  })
})

test('long texts are searched from their beginning, and patterns are read as they are written', () => {
  const envelope = said(`${'a'.repeat(4 * 2 ** 20)} end`)
  expect(find('a'.repeat(200), envelope)).toBeDefined()
  for (const query of ['(a+)+$', '.*.*.*=', 'end']) expect(find(query, envelope)).toBeUndefined()
})
