/**
 * Applies each wrong edit of the table to a copy of the repository, runs the fast and integration tests that could
 * notice it, and lists the edits that no test noticed. It runs the tests that the table names first, then all
 * that import the changed file.
 *
 *     pnpm mutants                   all of them; ends with 1 if more than four are not noticed
 *     pnpm mutants Rates covers      those whose function or file has one of these words in it
 */
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { repositoryRoot } from '../support/files.js'
import { applyMutant, type Edit } from './apply.js'
import type { Mutant } from './mutant.js'
import { mutants } from './table.js'

/** Milliseconds after which a hanging test counts as failed: it has noticed the mutant. */
const HANG_MS = 300_000
const MOST_SURVIVORS = 4

interface Applied extends Edit {
  readonly mutant: Mutant
}

const words = process.argv.slice(2)
const chosen = mutants
  .map((mutant): Applied => ({ mutant, ...applyMutant(mutant) }))
  .filter(
    ({ mutant, path }) =>
      words.length === 0 || words.some((word) => `${path} ${mutant.function}`.includes(word)),
  )

const folder = mkdtempSync(join(tmpdir(), 'meup-mutants-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('SIGINT', () => process.exit(130))

const files = (await run(repositoryRoot, 'git', ['ls-files', '-co', '--exclude-standard', '-z'])).output
  .split('\0')
  .filter(Boolean)
const copies = await Promise.all(
  Array.from({ length: availableParallelism() }, (_, index) => copy(`${index}`)),
)

const named = [...new Set(chosen.flatMap(({ mutant }) => mutant.tests))]
const [first = ''] = copies
const untouched = await vitest(first, ['run', ...named], 30 * 60_000)
if (untouched.code !== 0) {
  const end = untouched.code === null ? 'it was killed after 30 minutes' : untouched.errors
  console.error(`Without any edit these tests must pass:\n${end}`)
  process.exit(1)
}

const waiting = [...chosen]
const survivors: Applied[] = []
await Promise.all(copies.map(work))
const noticed = chosen.length - survivors.length
console.log(`${noticed} of ${chosen.length} noticed`)
process.exitCode = survivors.length > (words.length === 0 ? MOST_SURVIVORS : 0) ? 1 : 0

async function copy(name: string): Promise<string> {
  const target = join(folder, name)
  for (const file of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    copyFileSync(join(repositoryRoot, file), join(target, file))
  }
  const { code, output } = await run(target, 'pnpm', ['install', '--offline', '--frozen-lockfile'])
  if (code !== 0) throw new Error(output)
  return target
}

async function work(target: string): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { mutant, path, source } = next
    const place = `${path} ${mutant.function}: ${mutant.replace.replaceAll(/\s+/g, ' ')}`
    writeFileSync(join(target, path), source)
    const by =
      (await noticedBy(target, ['run', ...mutant.tests])) ??
      (await noticedBy(target, ['related', '--run', '--passWithNoTests', path]))
    copyFileSync(join(repositoryRoot, path), join(target, path))
    if (by === undefined) survivors.push(next)
    console.log(by === undefined ? `NOT NOTICED ${place}` : `noticed     ${place} | ${by}`)
  }
}

/** Returns the first test that fails, or `undefined` if all succeed. */
async function noticedBy(target: string, args: readonly string[]): Promise<string | undefined> {
  const { code, errors } = await vitest(target, [...args, '--bail=1'])
  return code === 0 ? undefined : (/FAIL\s+(.*)/.exec(errors)?.[1] ?? 'a run that failed')
}

function vitest(target: string, args: readonly string[], timeout = HANG_MS) {
  const options = ['--project=fast', '--project=integration', '--maxWorkers=1', '--no-color']
  return run(target, join(target, 'node_modules/.bin/vitest'), [...args, ...options], timeout)
}

async function run(cwd: string, command: string, args: readonly string[], timeout = HANG_MS) {
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once('close', resolve).once('error', reject),
  )
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, output, errors }
}
