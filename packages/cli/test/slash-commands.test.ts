import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { CommandRunner } from '../src/join/command-runner.js'
import {
  commandNames,
  completeLine,
  describeUnknownSlashCommand,
  helpLines,
  readTyped,
} from '../src/join/slash-commands.js'
import { answering } from './support/answering.js'
import { folderWith } from './support/folder.js'
import { createTurn } from './support/turns.js'

describe('a line', () => {
  verifies('I24', 'test_repl_reasoning_command_routing', () => {
    expect(commandNames).toContain('/reasoning')
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

  const known = ['bot', 'ben']

  test('that begins with names asks them, for everyone to read', () => {
    expect(readTyped('@bot What fails?', known)).toEqual({ say: 'What fails?', mention: ['bot'] })
    expect(readTyped('@bot: one\ntwo', known)).toEqual({ say: 'one\ntwo', mention: ['bot'] })
    for (const line of ['@bot,ben hi', '@bot, @ben hi', '@bot @ben hi'])
      expect(readTyped(line, known)).toEqual({ say: 'hi', mention: ['bot', 'ben'] })
    for (const line of ['@bot', 'hello @bot', 'hello @eve', '@ home', '@'])
      expect(readTyped(line, known)).toEqual({ say: line })
  })

  test('that begins with /msg is for those alone whom it names', () => {
    expect(readTyped('/msg bot What fails?', known)).toEqual({ say: 'What fails?', to: ['bot'] })
    expect(readTyped('/msg @bot,ben one\ntwo', known)).toEqual({ say: 'one\ntwo', to: ['bot', 'ben'] })
    expect(readTyped('/msg bot', known)).toEqual({ command: '/msg', argument: 'bot' })
  })

  test('that begins with a name that nobody has is not said', () => {
    for (const line of [
      '@eve my password',
      '@eve',
      '@bot,eve hi',
      '@bot @eve hi',
      '@botany is fun',
      '@a/b: x',
    ])
      expect(readTyped(line, known), line).toMatchObject({ stranger: expect.any(String), isPrivate: false })
    expect(readTyped('/msg eve my password', known)).toEqual({ stranger: 'eve', isPrivate: true })
  })

  test('that names no command is neither said nor obeyed; one that is near is named', () => {
    expect(describeUnknownSlashCommand('/aprove')).toBe('✗ there is no /aprove; did you mean /approve?')
    expect(describeUnknownSlashCommand('/xyzzy')).toBe('✗ there is no /xyzzy; /help says what there is')
    expect(readTyped('/reasonign 3')).toEqual({ unknown: '/reasonign' })
    expect(readTyped('/reason')).toEqual({ unknown: '/reason' })
  })
})

verifies('I24', '/reasoning prints the turn as the gateway has it', async () => {
  const asked: string[] = []
  const { url, space, token } = await answering(({ pathname, searchParams }) => {
    asked.push(`${pathname} ${searchParams.get('thread_id')} ${searchParams.get('before')}`)
    return { body: { turns: [createTurn(3)], has_more: false } }
  })
  const flags = { url, space, tokenFile: join(folderWith({ token: token ?? '' }), 'token') }
  const printed: string[] = []
  const view = { print: (lines: readonly string[]) => printed.push(...lines) }
  const runner = new CommandRunner({ flags, view, live: { answerer: 'bot' } } as never)
  await runner.runCommand('/reasoning', '3')
  expect(printed).toEqual([
    '  ┄ Reasoning — turn 3',
    '',
    '  ┄ read',
    '    rationale: "to know"',
    '    params:    {}',
    '    outcome:   success',
  ])
  expect(asked).toEqual(['/spaces/demo/turns demo/bot 4'])
})

describe('Tab', () => {
  const known = {
    participants: ['bot', 'ben'],
    tools: ['tool:files/read'],
    proposals: ['V1StGXR8', 'Uakgb_J5'],
  }
  const offered = (line: string): string[] => completeLine(line, known)[0]

  verifies('I24', 'completes commands', () => {
    expect(completeLine('/', known)).toEqual([commandNames, '/'])
    expect(completeLine('/re', known)).toEqual([
      ['/reasoning', '/replay', '/reject', '/resume', '/reply'],
      '/re',
    ])
    expect(completeLine('/rea', known)).toEqual([['/reasoning'], '/rea'])
  })

  test('completes what a command takes', () => {
    expect(completeLine('/reasoning ', known)).toEqual([['all', '@bot', '@ben'], ''])
    expect(completeLine('/reasoning 3 @bo', known)).toEqual([['@bot'], '@bo'])
    expect(offered('/approve V')).toEqual(['V1StGXR8'])
    expect(offered('/approve V1StGXR8 ')).toEqual([])
    expect(offered('/always V')).toEqual(['V1StGXR8'])
    expect(offered('/hide @b')).toEqual(['@bot', '@ben'])
    expect(offered('/reply @b')).toEqual(['@bot', '@ben'])
    expect(offered('/think ')).toEqual(['off', 'low', 'high', 'auto'])
    expect(offered('@bo')).toEqual(['@bot'])
    expect(offered('ask @be')).toEqual(['@ben'])
    expect(offered('/reject ')).toEqual(['V1StGXR8', 'Uakgb_J5'])
    expect(offered('/reject Uakgb_J5 ')).toEqual([])
    expect(offered('/grant b')).toEqual(['bot', 'ben'])
    expect(offered('/grant bot ')).toEqual(['tool:files/read'])
    expect(offered('/pause bot b')).toEqual(['bot', 'ben'])
    expect(offered('/filter r')).toEqual([
      'reasoning:full',
      'reasoning:summary',
      'reasoning:boundaries',
      'reasoning:none',
    ])
    expect(offered('/filter @be')).toEqual(['@ben'])
  })

  test('leaves alone what is to be said', () => {
    for (const line of ['', 'a', 'hello b', '/help @b']) expect(offered(line)).toEqual([])
  })
})

verifies('I24', 'help lists it under Inspection, and every command once', () => {
  const lines = helpLines()
  expect(lines.join('\n')).toMatch(
    /^Lines are messages; \/\/ begins a message with a slash\. Ctrl\+D leaves\.\n\nInspection\n {2}\/reasoning {2,}why the agent/,
  )
  for (const name of commandNames) {
    expect(lines.some((line) => line === `  ${name}` || line.startsWith(`  ${name} `))).toBe(true)
  }
  const sections = lines.filter((line) => /^\S/.test(line)).slice(1)
  expect(sections).toEqual([...new Set(sections)])
})
