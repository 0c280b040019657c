import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repositoryRoot } from '../../../../test/support/files.js'

const folder = join(repositoryRoot, 'packages/cli/dist/program')

/** The code of a file and of all files that it imports statically, directly or indirectly, by file name. */
function readEager(file: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(file)) return seen
  const code = readFileSync(join(folder, file), 'utf8')
  seen.set(file, code)
  for (const [, from, alone] of code.matchAll(
    /^(?:import|export)[^;(]*?from "\.\/([^"]+)"|^import "\.\/([^"]+)"/gm,
  ))
    readEager(String(from ?? alone), seen)
  return seen
}

test('a command starts without the packages that only some commands need', () => {
  const code = [...readEager('main.js').values()].join('\n')
  const packages = [...code.matchAll(/^\/\/ node_modules\/\.pnpm\/(@?[^@\n]+)@/gm)].map(([, name]) => name)
  for (const large of [
    'yaml',
    'string-width',
    'better-sqlite3',
    'prom-client',
    '@modelcontextprotocol+sdk',
    'zod',
  ])
    expect(packages).not.toContain(large)
  expect(packages).toContain('commander')
})
