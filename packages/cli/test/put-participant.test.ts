import { describe, expect, test } from 'vitest'
import { putParticipant } from '../src/config/put-participant.js'

const participant = { kind: 'mcp', command: 'npx', args: ['-y', 'x'] }

const put = (text: string, id = 'new', place = ['participants']) =>
  putParticipant(text, { place, id, participant })

const block = `new:
    kind: mcp
    command: npx
    args:
      - -y
      - x
`

describe('a new participant comes last, and no other line changes', () => {
  test.for<[name: string, before: string, after: string]>([
    ['at the end of the file', 'participants:\n  ana: { kind:   human } # me\n', ''],
    ['before other settings', 'participants:\n  ana: { kind: human } # me\n', '\nsafety:   {}\n'],
    [
      'behind a block',
      'participants:\n  ana:\n    kind: human\n    capabilities:\n    - "*" # all\n',
      '\n# The end.\nsafety: {}\n',
    ],
    ['before a comment of the participants', 'participants:\n  ana: {kind: human}\n', '\n  # files: …\n'],
  ])('%s', ([, before, after]) => {
    expect(put(before + after)).toBe(`${before}\n  ${block}${after}`)
  })

  test('in a file without a line feed at its end', () => {
    expect(put('participants:\n  ana: {kind: human}')).toBe(
      `participants:\n  ana: {kind: human}\n\n  ${block}`,
    )
  })

  test('in a file with CRLF', () => {
    const text = 'participants:\r\n  ana: { kind: human }\r\n'
    expect(put(text)).toBe(`${text}\r\n  ${block.replaceAll('\n', '\r\n')}`)
  })

  test('in one of several spaces, with its own indentation', () => {
    const before = 'spaces:\n    a:\n        participants:\n            ana: { kind: human }\n'
    const after = '    b: { participants: {} }\n'
    expect(put(before + after, 'new', ['spaces', 'a', 'participants'])).toBe(
      `${before}\n            ${block.replaceAll(/\n(?=.)/g, '\n          ').trimEnd()}\n${after}`,
    )
  })
})

test('a replaced participant keeps its place and its comments', () => {
  const text = (middle: string) =>
    `participants:\n  # The first.\n  ana: { kind: human }\n  # A server.\n  ${middle}  # Another.\n  ben: { kind: agent }\n`
  expect(put(text('new: { kind: mcp, url: "https://a.example" } # here\n'))).toBe(
    text(block.replace('- x\n', '- x # here\n')),
  )
  expect(put(text('new:\n    kind: mcp\n    url: https://a.example\n'))).toBe(text(block))
})

describe('a file in another form is written anew, with its comments', () => {
  test.for<[text: string, comment: string]>([
    ['# First.\nparticipants: { ana: { kind: human } } # all\n', '# all'],
    ['# First.\nspace: demo # its name\n', '# its name'],
    ['# First.\nparticipants: # none yet\nspace: demo\n', '# none yet'],
    ['# First.\nparticipants: {} # none\n', '# none'],
  ])('%j', ([text, comment]) => {
    const written = put(text)
    expect(written).toContain('# First.')
    expect(written).toContain(comment)
    expect(written).toContain('new:')
  })
})

test('an alias cannot be added to', () => {
  expect(put('x: &all { ana: { kind: human } }\nparticipants: *all\n')).toBeUndefined()
  const text = 'spaces:\n  a: &a\n    participants:\n      ana: { kind: human }\n  b: *a\n'
  expect(put(text, 'new', ['spaces', 'b', 'participants'])).toBeUndefined()
})

test('names and values that YAML would read otherwise are quoted', () => {
  const text = 'participants:\n  ana: { kind: human }\n'
  const odd = {
    kind: 'mcp',
    command: 'true',
    args: ['1', 'null', '# x', 'a: b', '*', 'l1\nl2', 'x'.repeat(200)],
  }
  const written = putParticipant(text, { place: ['participants'], id: '1', participant: odd })
  expect(written?.startsWith(text)).toBe(true)
})
