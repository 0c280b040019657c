import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { repositoryRoot } from './support/files.js'

const config = '.oxlintrc.json'

const source = `
import { readFile } from 'node:fs/promises'
import { EventEmitter } from 'node:events'
const own = async (): Promise<number> => 1
export function run(): void {
  readFile('a')
  void readFile('b')
  own()
  own().then(() => 2)
  own().finally(() => {})
  new EventEmitter().on('c', async () => void (await own()))
  setTimeout(async () => void (await own()))
  own().catch((error: unknown) => console.error(error))
  own().then(() => 3, (error: unknown) => console.error(error))
}
`

test('the linter finds promises that nobody handles, also those marked void', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meup-promises-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(repositoryRoot, config), join(folder, config))
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'))
  const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['planted.ts'] }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'planted.ts'), source)
  const program = join(repositoryRoot, 'node_modules/oxlint/bin/oxlint')
  const { stdout } = spawnSync(process.execPath, [program, '--type-aware', '-f', 'unix', 'planted.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = [...stdout.matchAll(/^planted\.ts:(\d+):/gm)].map(([, line]) => Number(line))
  expect(lines.sort((a, b) => a - b)).toEqual([6, 7, 8, 9, 10, 11, 12])
})
