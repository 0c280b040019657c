import { readFileSync } from 'node:fs'
import { errorCodes } from '../src/errors.js'
import { vectorFiles, vectors } from '../test/vectors.js'
import { markdownTable } from './spec-tables.js'

/** Clauses without vectors, by the reason why they have none. */
const reasons = {
  definition: '2.10 3.16 3.21 4.10 6.3 6.10 8.5 12.2',
  clients:
    '3.17 3.30 13.1 13.2 13.3 13.4 13.5 13.6 13.7 13.8 13.9 13.10 13.12 13.13 13.14 13.15 13.16 13.17 13.18 13.19 13.20 13.21 13.22 13.23 13.24 13.25 13.26',
  HTTP: '8.6 9.8 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8 11.9 11.10 11.11 11.12 11.13 11.14 11.15 11.16 11.17 11.18 11.19 11.20 11.21 11.22 11.23',
  handshake: '5.9 5.10 5.11 5.14 5.15 5.16 5.19 5.20',
  time: '2.14 2.15 2.16 3.28 3.29 5.5 5.7 5.8 5.17 5.18 7.5 7.7 7.8 7.9',
  disk: '10.1 10.3 10.4 10.5 10.6 10.7 10.8 10.9 10.10 10.11 10.12',
  bound: '2.11 4.19 7.6',
  setting: '6.4 6.5 6.6 6.8',
}

/** For each clause without vectors, the reason. */
export const reasonOf: ReadonlyMap<string, string> = new Map(
  Object.entries(reasons).flatMap(([reason, clauses]) => clauses.split(' ').map((each) => [each, reason])),
)

/** Clauses that mention error codes without refusing anything themselves. */
const mentions = new Set(['3.12', '12.1', '12.2', '12.3'])

export interface Clause {
  /** Number of the clause, such as `3.12`. */
  readonly number: string
  readonly text: string
}

/** Reads the clauses of the specification, in order. Line breaks become spaces. */
export const clausesOf = (spec: string): Clause[] =>
  [...spec.matchAll(/^- \*\*\[MEUP-([\d.]+)\]\*\* (.*(?:\n {2}.*)*)/gm)].map(
    ([, number = '', text = '']) => ({
      number,
      text: text.replace(/\s+/g, ' '),
    }),
  )

/** Counts the vectors that test each clause, by file. */
export function vectorCounts(): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const counts = new Map<string, Map<string, number>>()
  for (const file of vectorFiles) {
    for (const { clause, also = [] } of vectors(file)) {
      for (const tested of [clause, ...also]) {
        const number = tested.slice('MEUP-'.length)
        const ofClause = counts.get(number) ?? new Map<string, number>()
        counts.set(number, ofClause.set(file, (ofClause.get(file) ?? 0) + 1))
      }
    }
  }
  return counts
}

/** The index of clauses of SPEC.md, as Markdown: the codes with which each clause refuses, and its vectors. */
export function clauseIndex(): string {
  const spec = readFileSync(new URL('../SPEC.md', import.meta.url), 'utf8')
  const counts = vectorCounts()
  // Splits at clauses and headings only, so that a table or a list belongs to the clause above it.
  const bodies = spec.split(/^- \*\*\[MEUP-|^## /m)
  const rows = clausesOf(spec).map(({ number }) => {
    const text = bodies.find((body) => body.startsWith(`${number}]`)) ?? ''
    const isRefusing = !mentions.has(number) && !number.startsWith('13.')
    const codes = isRefusing ? errorCodes.filter((code) => text.includes(`\`${code}\``)) : []
    const tests = [...(counts.get(number) ?? [])].map(([file, count]) => `\`${file}\` ${count}`)
    return [
      number,
      codes.map((code) => `\`${code}\``).join(', '),
      tests.length > 0 ? tests.join(', ') : `*${reasonOf.get(number)}*`,
    ]
  })
  return markdownTable(['clause', 'refuses with', 'vectors'], rows)
}
