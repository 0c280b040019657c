import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { temporaryFolder } from './cli.js'
import { repositoryRoot } from './files.js'

/**
 * Copies the built `meup`, with better-sqlite3 missing or not compiled, until the test is over. Returns the path of the
 * program.
 */
export function installWithoutSqlite(state: 'missing' | 'uncompiled'): string {
  const folder = temporaryFolder()
  const cli = join(repositoryRoot, 'packages/cli')
  for (const part of ['package.json', 'bin', 'dist/program'])
    cpSync(join(cli, part), join(folder, part), { recursive: true })
  mkdirSync(join(folder, 'node_modules/@meup'), { recursive: true })
  symlinkSync(join(repositoryRoot, 'packages/observer'), join(folder, 'node_modules/@meup/observer'))
  if (state === 'uncompiled') copyUncompiled(join(folder, 'node_modules'))
  return join(folder, 'bin/meup.js')
}

function copyUncompiled(modules: string): void {
  const driver = realpathSync(join(repositoryRoot, 'packages/cli/node_modules/better-sqlite3'))
  const isSource = (path: string): boolean => !path.split(sep).includes('build')
  cpSync(driver, join(modules, 'better-sqlite3'), { recursive: true, filter: isSource })
  const bindings = createRequire(join(driver, 'package.json')).resolve('bindings')
  symlinkSync(dirname(bindings), join(modules, 'bindings'))
}
