import { describe, expect, test } from 'vitest'
import { filesUnder } from './support/files.js'
import { readText } from './support/packages.js'
import { comparePhrasing, findRiddles } from './support/phrasing.js'
import { scan } from './support/source.js'
import { identifiers, phrases, riddles } from './vocabulary.js'

const folders = ['protocol', 'packages', 'examples', 'bench', 'test', 'scripts']
const sources = [
  ...folders.flatMap((folder) => [...filesUnder(folder), ...filesUnder(folder, '.tsx')]),
  ...filesUnder('docs', '.md'),
].filter((path) => !/^test\/vocabulary/.test(path))

/** Returns a function that finds words of the table in a text, with their replacements. It reads the text once. */
const findIn = (table: typeof identifiers): ((text: string) => string[]) => {
  const groups = table.map(([pattern]) => `(${pattern})`)
  const words = new RegExp(`(?<![\\w$-])#?(?:${groups.join('|')})(?![\\w$-])`, 'g')
  return (text) =>
    Array.from(text.matchAll(words), ([found, ...matched]) => {
      const row = table[matched.findIndex((each) => each !== undefined)]
      return `${found} → ${row?.[1]}`
    })
}
const findIdentifiers = findIn(identifiers)
const findPhrases = findIn(phrases)

test('identifiers are of the vocabulary', () => {
  expect(findIdentifiers('class Room { tell(told) {} }').length).toBe(3)
  const found = sources
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => findIdentifiers(scan(readText(path)).code).map((each) => `${path}: ${each}`))
  expect(found).toEqual([])
})

test('comments and pages use plain phrases', () => {
  const found = sources.flatMap((path) => findPhrases(readText(path)).map((each) => `${path}: ${each}`))
  expect(found).toEqual([])
})

/** Exported names that are defined several times with the same meaning. The list may only shrink. */
const variants = [
  // Exported by two variants of a module: the one for Node.js, and the one that browsers or small clients load instead.
  ...['compileJsonSchema', 'connect', 'describeZod', 'getEngine', 'getGuards', 'guardText', 'isCompilable'],
  ...['loadGuards', 'makeCompilable', 'openModels', 'readEnvironment', 'runModelAgent'],
  // A command, and the MCP tool that does the same.
  ...['addAsk', 'addProposals', 'addWhy'],
  // A type of the gateway, and its copy in packages that do not depend on the gateway.
  ...['AuditQuery', 'AuditStep', 'Clock', 'ContextNode', 'JsonSchema', 'ParticipantList', 'Tail', 'Turn'],
  ...['noTail', 'systemClock'],
]
const exported = /^export (?:abstract |async )*(?:class|const|enum|function\*?|interface|let|type) (\w+)/gm

test('an exported name has one meaning: rename the second', () => {
  const counts = new Map<string, number>()
  for (const path of sources.filter((each) => /^(?:protocol|packages\/[^/]+)\/src\/.*\.tsx?$/.test(each)))
    for (const name of new Set(Array.from(readText(path).matchAll(exported), ([, found = '']) => found)))
      counts.set(name, (counts.get(name) ?? 0) + 1)
  const found = [...counts].flatMap(([name, count]) => (count > 1 ? [name] : []))
  expect(found.sort()).toEqual(variants.toSorted())
})

describe('riddles', () => {
  const differences = comparePhrasing()

  test.each([
    ['headless', 'What of so many characters is left; less than none: it is too much.'],
    ['people', 'Tells everything to whoever asks.'],
    ['where', 'A value of no use where there is one already.'],
    ['particles', 'Begins anew, and goes on all the same.'],
    ['negated', 'This is no envelope.'],
    ['told', 'The inviter is told of it.'],
  ])('%s: %s', (kind, text) => {
    expect(findRiddles([text], kind)).not.toEqual([])
  })

  test('plain sentences are none', () => {
    const plain = [
      'Returns the seq if there is no row.',
      'Whether the budget is used up.',
      'The connection is no longer open.',
    ]
    expect(Object.keys(riddles).flatMap((kind) => findRiddles(plain, kind))).toEqual([])
  })

  test('no file has more of them than test/phrasing.json lists', () => {
    const risen = differences.filter(({ listed, found }) => found.length > listed)
    const texts = risen.map(({ path, kind, listed, found }) => {
      const instead = riddles[kind]?.instead
      return `${path}: ${found.length} instead of ${listed} ${kind} (${found.join(', ')}). Write: ${instead}.`
    })
    expect(texts).toEqual([])
  })

  test('test/phrasing.json lists no more than there are: `pnpm tables` lowers it', () => {
    const fallen = differences.filter(({ listed, found }) => found.length < listed)
    expect(
      fallen.map(({ path, kind, listed, found }) => `${path}: ${kind} ${listed} → ${found.length}`),
    ).toEqual([])
  })
})
