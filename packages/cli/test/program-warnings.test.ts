import { expect, test } from 'vitest'
import { findConfigWarnings } from '../src/lib/capabilities.js'
import { configIn, folderWith } from './support/folder.js'

const warn = (program: string): string[] =>
  findConfigWarnings(
    configIn(
      folderWith({ 'with space.sh': '' }),
      `version: 1\nspace: demo\nparticipants:\n  bot: { kind: process, ${program} }\n`,
    ).config,
  )

test('a command line in command, and a cwd that is not there, are found before the start', () => {
  expect(warn('command: "node agent.js --fast"')).toEqual([
    'bot: command is "node agent.js --fast"; arguments belong in args: command: node, args: [agent.js, --fast]',
  ])
  expect(warn('command: node, cwd: ./nowhere')).toEqual([
    expect.stringMatching(/^bot: cwd \S+nowhere does not exist;/),
  ])
  expect(warn('command: "./with space.sh"')).toEqual([])
  expect(warn('command: node, args: [agent.js]')).toEqual([])
})
