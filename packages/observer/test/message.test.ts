import { completeName, findCompletion, findNames, type Person } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'

const known = (id: string): boolean => ['coder', 'coder.', 'a_b', 'ä'].includes(id) && id !== 'coder.'
const names = (text: string): unknown[] =>
  findNames(text, known).map(({ start, end, id }) => [text.slice(start, end), id])

describe('names in a message', () => {
  test.each([
    ['@coder fix it', [['@coder', 'coder']]],
    ['fix it, @coder.', [['@coder', 'coder']]],
    [
      '(@coder): @a_b, and @coder!',
      [
        ['@coder', 'coder'],
        ['@a_b', 'a_b'],
        ['@coder', 'coder'],
      ],
    ],
    ['two\n@coder', [['@coder', 'coder']]],
    ['@codr', [['@codr', undefined]]],
    ['mail me@coder, a/@coder, @@coder', []],
    ['`@coder` and ```\n@coder\n```', []],
    ['an open ``` @coder', []],
    ['@ä', [['@ä', 'ä']]],
  ])('%s', (text, expected) => expect(names(text)).toEqual(expected))
})

test('a name is completed where a word begins, a command at the beginning alone', () => {
  expect(findCompletion('ask @co', 7)).toEqual({ sign: '@', start: 4, query: 'co' })
  expect(findCompletion('ask @co now', 7)).toEqual({ sign: '@', start: 4, query: 'co' })
  expect(findCompletion('me@co', 5)).toBeUndefined()
  expect(findCompletion('@coder ', 7)).toBeUndefined()
  expect(findCompletion('/pe', 3)).toEqual({ sign: '/', start: 0, query: 'pe' })
  expect(findCompletion('see /pe', 7)).toBeUndefined()
  expect(findCompletion('/etc/hosts', 10)).toBeUndefined()
})

test('agents that are here come first, and who is called so before who is called like that', () => {
  const person = (id: string, role: Person['role'], isPresent = true): Person => ({
    ...{ id, role, isPresent, since: null, load: 0, isMuted: false },
  })
  const people = [
    person('co-tool', 'tool'),
    person('cora', 'person'),
    person('coder', 'agent'),
    person('core', 'agent', false),
    person('bacon', 'agent'),
  ]
  expect(completeName('co', people).map(({ id }) => id)).toEqual([
    'coder',
    'cora',
    'co-tool',
    'core',
    'bacon',
  ])
  const many = Array.from({ length: 20 }, (_, at) => person(`a${at}`, 'agent'))
  expect(completeName('a', many)).toHaveLength(6)
})
