import { describe, expect, test } from 'vitest'
import { mustAnswer } from '../src/commands/ask.js'
import { readAddressees } from '../src/lib/addressees.js'

describe('who is asked', () => {
  test.each([
    [['Why?'], [], [], 'Why?'],
    [['bot', 'Why?'], ['ben'], ['bot', 'ben'], 'Why?'],
    [['@bot', 'Why?'], [], ['bot'], 'Why?'],
    [['@bot Why?'], [], ['bot'], 'Why?'],
    [['@bot,ben @eve: Why\nnot?'], [], ['bot', 'ben', 'eve'], 'Why\nnot?'],
    [['@bot'], [], [], '@bot'],
    [['@@ -1,3 +1,4 @@ fn()'], [], [], '@@ -1,3 +1,4 @@ fn()'],
    [['bot', '@Override does what?'], [], ['bot'], '@Override does what?'],
    [['@Override does what?'], ['bot'], ['bot'], '@Override does what?'],
  ])('%j --to %j', (words, to, names, question) => {
    expect(readAddressees(words, to)).toEqual({ names, question })
  })
})

const seat = (id: string, kind: string) => ({ id, kind, status: 'present' as const, capabilities: [] })
const space = { id: 'ana', participants: [seat('ana', 'human'), seat('bot', 'agent'), seat('files', 'mcp')] }

test.each([
  ['a name that is misspelt', ['bott'], 'unknown_participant', { name: 'bott', meant: 'bot' }],
  ['a name that is like none', ['x'], 'unknown_participant', { name: 'x', meant: 'bot' }],
  ['a tool server', ['bot', 'files'], 'not_answering', { name: 'files' }],
])('%s is refused, with those that can answer', (_, names, code, details) => {
  expect(() => mustAnswer(space, names)).toThrow(
    expect.objectContaining({ code, details: expect.objectContaining(details) }),
  )
})

test('without another participant than tool servers, none can answer', () => {
  const alone = { ...space, participants: space.participants.filter(({ id }) => id !== 'bot') }
  expect(() => mustAnswer(alone, ['bot'])).toThrow(expect.objectContaining({ code: 'no_agent' }))
})

test('an agent, a person and oneself may be asked', () => {
  mustAnswer(space, ['ana', 'bot'])
})
