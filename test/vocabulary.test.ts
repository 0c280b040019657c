import { expect, test } from 'vitest'
import { filesUnder } from './support/files.js'
import { readText } from './support/packages.js'
import { scan } from './support/source.js'
import { identifiers, phrases } from './vocabulary.js'

const folders = ['protocol', 'packages', 'examples', 'bench', 'test', 'scripts']
const sources = [
  ...folders.flatMap((folder) => [...filesUnder(folder), ...filesUnder(folder, '.tsx')]),
  ...filesUnder('docs', '.md'),
].filter((path) => !/^test\/vocabulary/.test(path))

/** Where a pattern stands as a word of its own, each with what to write instead. */
const find = (table: typeof identifiers, text: string): string[] =>
  table.flatMap(([pattern, instead]) =>
    [...text.matchAll(new RegExp(`(?<![\\w$-])#?(?:${pattern})(?![\\w$-])`, 'g'))].map(
      ([found]) => `${found} → ${instead}`,
    ),
  )

test('identifiers are of the vocabulary', () => {
  expect(find(identifiers, 'class Room { tell(told) {} }').length).toBe(3)
  const found = sources
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => find(identifiers, scan(readText(path)).code).map((each) => `${path}: ${each}`))
  expect(found).toEqual([])
})

test('comments and pages use plain phrases', () => {
  const found = sources.flatMap((path) => find(phrases, readText(path)).map((each) => `${path}: ${each}`))
  expect(found).toEqual([])
})
