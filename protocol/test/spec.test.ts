import { readFileSync } from 'node:fs'
import {
  closeCodes,
  defaultLimits,
  defaultRates,
  givenText,
  maxNesting,
  maxPost,
  openContexts,
} from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { specPath, withTables } from '../scripts/spec-tables.js'

const spec = readFileSync(specPath, 'utf8')
const clauses = [...spec.matchAll(/^- \*\*\[MEUP-(\d+)\.(\d+)\]\*\* (.*(?:\n {2}.*)*)/gm)].map(
  ([, section, number, text = '']) => ({
    section: Number(section),
    number: Number(number),
    text: text.replace(/\s+/g, ' '),
  }),
)
const textOf = (section: number, number: number) =>
  clauses.find((clause) => clause.section === section && clause.number === number)?.text

test('the tables are those of the code; if not, run: pnpm --filter @meup/protocol spec', () => {
  expect(spec).toBe(withTables(spec))
})

test('the tables are noticed when they are wrong', () => {
  expect(withTables(spec.replace('| `chat.cancel` |', '| `chat.undo` |'))).toBe(spec)
  expect(() => withTables(spec.replace('generated: errors', 'errors'))).toThrow('errors')
})

test('clauses are numbered from 1 in every section, in order', () => {
  const sections = [...spec.matchAll(/^## (\d+)\. /gm)].map(([, section]) => Number(section))
  expect(sections).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  for (const section of sections) {
    const numbers = clauses.filter((clause) => clause.section === section).map(({ number }) => number)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect(numbers.length).toBeGreaterThan(0)
  }
})

test('clauses stand in their section and are short', () => {
  const parts = spec.split(/^(?=## \d+\. )/m).slice(1)
  for (const part of parts) {
    const section = /^## (\d+)/.exec(part)?.[1]
    const defined = [...part.matchAll(/^- \*\*\[MEUP-(\d+)\./gm)].map(([, own]) => own)
    expect(defined).toEqual(defined.map(() => section))
  }
  expect(clauses.filter(({ text }) => text.length > 560)).toEqual([])
})

describe('numbers in the text are those of the code:', () => {
  const {
    maxEnvelopeBytes,
    sendBufferBytes,
    contextDepth,
    contextLength,
    connectionsPerParticipant,
    agentHops,
  } = defaultLimits
  test.for<[number, number, string]>([
    [1, 8, `more than ${maxNesting} deep`],
    [1, 13, `(default ${maxEnvelopeBytes})`],
    [2, 1, `at most ${contextDepth} segments and ${contextLength} characters`],
    [2, 11, `At most ${openContexts.own} contexts of one participant`],
    [2, 11, `${openContexts.guests} of all guests of a space`],
    [2, 11, `${openContexts.all} of a space`],
    [4, 8, `at most ${givenText.list} characters of JSON`],
    [4, 19, `at most ${givenText.own} characters of JSON`],
    [4, 19, `in a space at most ${givenText.all}`],
    [5, 8, `(default ${sendBufferBytes})`],
    [5, 13, `by default up to ${connectionsPerParticipant}`],
    [7, 4, `(default ${agentHops})`],
    [11, 2, `up to ${maxPost}`],
    ...Object.values(closeCodes).map((code): [number, number, string] => [5, 6, `${code} (`]),
  ])('[MEUP-%i.%i] %s', ([section, number, text]) => {
    expect(textOf(section, number)).toContain(text)
  })

  test.for(['reasoning', 'chat', 'mcp', 'control', 'other'] as const)('[MEUP-7.1] %s', (name) => {
    const { perSecond, burst } = defaultRates[name]
    const rate = new RegExp(`\`${name}\`(?: \\([^)]*\\))? ${perSecond}/s, burst ${burst}`)
    expect(textOf(7, 1)).toMatch(rate)
  })
})
