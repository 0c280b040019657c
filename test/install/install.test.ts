import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { environment, type Outcome, temporaryFolder } from '../support/cli.js'
import { installNode, keepAddon, packsOf, pathOf, prebuilds } from '../support/install.js'

type Client = 'npm' | 'pnpm'
const clients: readonly Client[] = ['npm', 'pnpm']
const majors = ['20', '22', '24']

/** A folder, with the environment of the programs that run in it. */
interface Place {
  readonly cwd: string
  readonly env: Record<string, string>
}

/** Runs a program, and waits for its end. */
function run({ cwd, env }: Place, program: string, ...args: string[]): Promise<Outcome> {
  const options = { cwd, env: environment(env), maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) =>
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    ),
  )
}

const succeeding = async (...given: Parameters<typeof run>): Promise<string> => {
  const { code, stdout, stderr } = await run(...given)
  expect(code, stdout + stderr).toBe(0)
  return stdout
}

/** This machine's `PATH` without the tools of this repository. */
const ownPath = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))

/** Makes an empty folder, with an environment in which this major version of Node.js comes first in `PATH`. */
async function placeWith(major: string, path: readonly string[] = ownPath): Promise<Place> {
  const { bin, headers } = await installNode(major)
  const env = {
    PATH: [bin, ...path].join(delimiter),
    npm_config_nodedir: headers,
    npm_config_better_sqlite3_local_prebuilds: prebuilds,
    NO_COLOR: '1',
  }
  return { cwd: temporaryFolder(), env }
}

/** A `PATH` with what install scripts of packages need, but without a compiler. */
function withoutCompiler(): string[] {
  const folder = temporaryFolder()
  for (const name of ['sh', 'sed', 'dirname', 'uname']) symlinkSync(pathOf(name), join(folder, name))
  return [folder]
}

/** Settings that make npm and pnpm compile addons instead of downloading them or reusing an earlier build. */
const fromSource = { npm_config_build_from_source: 'true', npm_config_side_effects_cache: 'false' }

/** Installs all our packages from their tarballs. */
async function install(client: Client, place: Place, ...options: string[]): Promise<void> {
  const folder = await packsOf()
  const tarballs = readdirSync(folder).map((name) => join(folder, name))
  writeFileSync(join(place.cwd, 'package.json'), JSON.stringify(manifestOf(client, tarballs)))
  if (client === 'npm') await succeeding(place, 'npm', 'install', '--no-audit', '--no-fund', ...options)
  else await succeeding(place, 'npx', '-y', 'pnpm@10', 'install')
}

/**
 * Makes the package.json of a user who installs the packages. With pnpm, overrides are needed because it would look for our
 * packages in the registry.
 */
function manifestOf(client: Client, tarballs: readonly string[]) {
  const files = Object.fromEntries(tarballs.map((path) => [nameOf(path), `file:${path}`]))
  const pnpm = { overrides: files, onlyBuiltDependencies: ['better-sqlite3', 'esbuild'] }
  return { private: true, dependencies: files, ...(client === 'pnpm' && { pnpm }) }
}

/** The package name of a tarball: `meup-agent-sdk-0.1.0.tgz` contains `@meup/agent-sdk`. */
function nameOf(path: string): string {
  const [, name = ''] = /([^/]+)-\d+\.\d+\.\d+\.tgz$/.exec(path) ?? []
  return name.replace(/^meup-/, '@meup/')
}

/** Runs `npx meup up` until the test is over. Resolves when it prints `text`. */
async function up(place: Place, text: RegExp): Promise<void> {
  const child = spawn('npx', ['meup', 'up'], {
    cwd: place.cwd,
    env: environment(place.env),
    detached: true,
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  onTestFinished(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await ended
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      said += chunk
      if (text.test(said)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    void ended.then(() => reject(new Error(`meup up ended: ${said}`)))
  })
}

/** Runs a task, and prints how many seconds it took. */
async function timed<Result>(what: string, task: () => Promise<Result>): Promise<Result> {
  const began = performance.now()
  const result = await task()
  process.stdout.write(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
  return result
}

test('every package has its licence, and nothing of its tests', { timeout: 300_000 }, async () => {
  const folder = await packsOf()
  for (const name of readdirSync(folder)) {
    const { stdout } = await run({ cwd: folder, env: {} }, 'tar', '-tzf', name)
    const files = stdout.trimEnd().split('\n')
    for (const file of ['LICENSE', 'README.md']) expect(files, name).toContain(`package/${file}`)
    const own = files.filter((file) => !file.startsWith('package/templates/')) // Templates have tests for their users.
    expect(own.filter((file) => /\/test\/|\.test\.|tsbuildinfo|\.meup/.test(file))).toEqual([])
  }
})

/** The files of a space with an agent. */
const space = (storage = 'sqlite'): Record<string, string> => ({
  'space.yaml': `version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: ${storage} }
participants:
  ana: { kind: human, capabilities: ["*"] }
  reviewer: { kind: process, command: node, args: [reviewer.mjs], capabilities: [chat, "reasoning.*"] }
`,
  'reviewer.mjs': `import { connect } from '@meup/agent-sdk'
const space = await connect()
await space.answer((turn) => turn.reply(\`\${turn.text} Not yet.\`))
`,
})

/** A program that imports everything that the packages export. */
const importAll = `
import { readFileSync } from 'node:fs'
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
let count = 0
for (const name of Object.keys(dependencies)) {
  const { exports } = JSON.parse(readFileSync(\`node_modules/\${name}/package.json\`, 'utf8'))
  for (const path of Object.keys(exports).filter((path) => !path.includes('*'))) {
    await import(name + path.slice(1))
    count++
  }
}
console.log(count)
process.exit()
`

function write({ cwd }: Place, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
}

/** Starts the space, and asks its agent. */
async function ask(place: Place): Promise<void> {
  await up(place, /reviewer is up/)
  const answer = await succeeding(place, 'npx', 'meup', 'ask', 'reviewer', 'Can we deploy?')
  expect(answer).toContain('Can we deploy? Not yet.')
}

describe.for(clients)('installed with %s', (client) => {
  test.for(majors)(
    'on Node %s, everything loads and an agent answers',
    { timeout: 900_000 },
    async (major) => {
      const place = await placeWith(major)
      await timed(`${client} install on Node ${major}`, () => install(client, place))
      await keepAddon(place.cwd, environment(place.env))
      write(place, { ...space(), 'import-all.mjs': importAll })
      expect(Number(await succeeding(place, 'node', 'import-all.mjs'))).toBeGreaterThan(25)
      await timed(`meup up and ask with ${client} on Node ${major}`, () => ask(place))
      expect(existsSync(join(place.cwd, '.meup/space.db'))).toBe(true)
    },
  )

  test.for(majors)('without a compiler, on Node %s', { timeout: 900_000 }, async (major) => {
    const { cwd, env } = await placeWith(major, withoutCompiler())
    const place = { cwd, env: { ...env, ...fromSource } }
    await timed(`${client} install on Node ${major} without a compiler`, () => install(client, place))
    write(place, space())
    if (major !== '20') return ask(place)
    const refused = await run(place, 'npx', 'meup', 'up')
    expect(refused.stderr).toMatch(
      /needs the package better-sqlite3, which (is not installed|was not compiled)/,
    )
    expect(refused.stderr).not.toMatch(/^\s+at /m)
    write(place, space('memory'))
    await ask(place)
  })
})

test('on Node 22, npm install --ignore-scripts is enough', { timeout: 900_000 }, async () => {
  const place = await placeWith('22')
  await install('npm', place, '--ignore-scripts')
  write(place, space())
  await ask(place)
  expect(existsSync(join(place.cwd, '.meup/space.db'))).toBe(true)
})

test('after a change of Node, the sentence says to compile again', { timeout: 900_000 }, async () => {
  const place = await placeWith('20')
  await install('npm', place)
  const other = { ...place, env: (await placeWith('22')).env }
  write(place, space())
  const { stderr } = await run(other, 'npx', 'meup', 'up')
  expect(stderr).toMatch(/was built for another version of Node. Run npm rebuild better-sqlite3/)
})
