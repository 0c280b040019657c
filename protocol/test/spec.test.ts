import { readFileSync } from 'node:fs'
import {
  checkPayload,
  checkSubmission,
  closeCodes,
  compileCapabilities,
  type ErrorCode,
  errors,
  GATEWAY,
  givenText,
  jsonSchemas,
  maxNesting,
  maxPost,
  openContexts,
  standingGrants,
} from '@meup/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { clausesOf, reasonOf, vectorCounts } from '../scripts/clause-index.js'

const spec = readFileSync(new URL('../SPEC.md', import.meta.url), 'utf8')
const clauses = clausesOf(spec).map(({ number, text }) => {
  const [section = 0, place = 0] = number.split('.').map(Number)
  return { section, number: place, text }
})
const textOf = (section: number, number: number) =>
  clauses.find((clause) => clause.section === section && clause.number === number)?.text

test('clauses are numbered from 1 in every section, in order', () => {
  const sections = [...spec.matchAll(/^## (\d+)\. /gm)].map(([, section]) => Number(section))
  expect(sections).toEqual(Array.from({ length: 13 }, (_, index) => index + 1))
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
  test.for<[number, number, string]>([
    [1, 8, `more than ${maxNesting} deep`],
    [2, 11, `At most ${openContexts.own} contexts of one participant`],
    [2, 11, `${openContexts.guests} of all guests of a space`],
    [2, 11, `${openContexts.all} of a space`],
    [4, 8, `at most ${givenText.list} characters of JSON`],
    [4, 19, `at most ${givenText.own} characters of JSON`],
    [
      4,
      19,
      `at most ${standingGrants.own} grants of one grantor stand, and ${standingGrants.all} in a space`,
    ],
    [4, 19, `in a space at most ${givenText.all}`],
    [11, 2, `up to ${maxPost}`],
  ])('[MEUP-%i.%i] %s', ([section, number, text]) => {
    expect(textOf(section, number)).toContain(text)
  })
})

test('every close code is in the table that says whether to reconnect', () => {
  const table = spec.split('**[MEUP-5.6]**')[1]?.split('**[MEUP-5.7]**')[0] ?? ''
  const rows = [...table.matchAll(/^\| (\d{4}) \| .* \| ((?:yes|no)\b.*) \|$/gm)].map(([, code]) =>
    Number(code),
  )
  for (const code of Object.values(closeCodes)) expect(rows).toContain(code)
})

test('every clause has vectors, or a reason why it has none', () => {
  const counts = vectorCounts()
  const lacking = clausesOf(spec).filter(({ number }) => counts.has(number) === reasonOf.has(number))
  expect(lacking.map(({ number }) => number)).toEqual([])
  const known = new Set(clausesOf(spec).map(({ number }) => number))
  expect([...reasonOf.keys()].filter((number) => !known.has(number))).toEqual([])
})

describe('the examples hold:', () => {
  const blocks = [...spec.matchAll(/^```json ?(.*)\n([\s\S]*?)^```$/gm)].map(([, title = '', text = '']) => ({
    title,
    text,
  }))
  const titled = (title: RegExp) => blocks.filter((block) => title.test(block.title))
  const ajv = new Ajv2020({ strict: false })
  const isEnvelope = ajv.compile(jsonSchemas().envelope ?? {})

  test('there are some of each sort', () => {
    expect(titled(/^\w+ → gateway$/).length).toBeGreaterThan(10)
    expect(titled(/^gateway → \w+$/).length).toBeGreaterThan(4)
    for (const title of [/^capability$/, /^problem$/]) expect(titled(title).length).toBeGreaterThan(0)
  })

  test.for(titled(/^\w+ → gateway$/))('$title: $text', ({ text }) => {
    const frame = JSON.parse(text)
    expect(checkSubmission(frame)).toBeUndefined()
    expect(checkPayload(frame.kind, frame.payload)).toBeUndefined()
  })

  test.for(titled(/^gateway → \w+$/))('$title: $text', ({ text }) => {
    const frame = JSON.parse(text)
    expect(isEnvelope(frame), JSON.stringify(isEnvelope.errors)).toBe(true)
    expect(checkPayload(frame.kind, frame.payload)).toBeUndefined()
    expect(frame.seq === undefined).toBe(frame.from === GATEWAY)
  })

  test.for(titled(/^problem$/))('$title: $text', ({ text }) => {
    const { code, title, status } = JSON.parse(text) as { code: ErrorCode; title: string; status: number }
    expect({ title, status }).toMatchObject({ title: errors[code].meaning, status: errors[code].status })
  })

  test.for(titled(/^capability$/))('$title: $text', ({ text }) => {
    expect(() => compileCapabilities([JSON.parse(text)])).not.toThrow()
  })
})
