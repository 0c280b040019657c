import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { completeLine, helpLines, readTyped, slashCommands } from '../src/join/slash-commands.js'

describe('a line', () => {
  verifies('I24', 'test_repl_reasoning_command_routing', () => {
    expect(slashCommands.map(({ name }) => name)).toContain('/reasoning')
    expect(readTyped('/reasoning 3')).toEqual({ command: '/reasoning', argument: '3' })
    expect(readTyped('/reasoning')).toEqual({ command: '/reasoning', argument: '' })
    expect(readTyped('/reasoning   all @helper  ')).toEqual({
      command: '/reasoning',
      argument: 'all @helper',
    })
    expect(readTyped('/help')).toEqual({ command: '/help', argument: '' })
  })

  test.for(['hello', '/etc/hosts is wrong', '/ what', ' /reasoning', 'why /reasoning?', '/3', '/'])(
    'that is none is said: %s',
    (line) => {
      expect(readTyped(line)).toEqual({ say: line })
    },
  )

  test('that begins with two slashes is said with one', () => {
    expect(readTyped('//reasoning 3')).toEqual({ say: '/reasoning 3' })
  })

  test('that names no command is neither said nor obeyed', () => {
    expect(readTyped('/reasonign 3')).toEqual({ unknown: '/reasonign' })
    expect(readTyped('/reason')).toEqual({ unknown: '/reason' })
  })
})

describe('Tab', () => {
  verifies('I24', 'completes commands', () => {
    expect(completeLine('/', [])).toEqual([['/reasoning', '/help'], '/'])
    expect(completeLine('/r', [])).toEqual([['/reasoning'], '/r'])
  })

  test('completes what /reasoning takes', () => {
    expect(completeLine('/reasoning ', ['bot', 'ben'])).toEqual([['all', '@bot', '@ben'], ''])
    expect(completeLine('/reasoning 3 @bo', ['bot', 'ben'])).toEqual([['@bot'], '@bo'])
  })

  test('leaves alone what is to be said', () => {
    for (const line of ['', 'a', 'hello @b', '/help @b']) expect(completeLine(line, ['bot'])[0]).toEqual([])
  })
})

verifies('I24', 'help lists it under Inspection', () => {
  expect(helpLines().join('\n')).toBe(`What you type is said; // says what begins with a slash. Ctrl+D leaves.

Inspection
  /reasoning             why the agent that answered last used its tools, in its latest turn
  /reasoning <number>    the same of the turn with this number
  /reasoning all         the same of all its turns
  /reasoning … @<agent>  the same of another agent

Help
  /help                  this`)
})
