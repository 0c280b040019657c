import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { ownCommand } from '../src/lib/own-command.js'
import { folderWith } from './support/folder.js'

function withCommand(folder: string): string {
  mkdirSync(folder, { recursive: true })
  symlinkSync(process.execPath, join(folder, 'meup'))
  return folder
}

test('the command is called by its name where a shell finds it, and by npx where packages alone have it', () => {
  const folder = folderWith({})
  const inside = join(folder, 'project/agents')
  mkdirSync(inside, { recursive: true })
  const [none, global] = [join(folder, 'empty'), withCommand(join(folder, 'bin'))]
  expect(ownCommand(inside, none)).toBe('meup')
  const local = withCommand(join(folder, 'project/node_modules/.bin'))
  expect(ownCommand(inside, none)).toBe('npx meup')
  expect(ownCommand(inside, [local, none].join(delimiter))).toBe('npx meup')
  expect(ownCommand(inside, [local, global].join(delimiter))).toBe('meup')
  expect(ownCommand(folder, none)).toBe('meup')
})
