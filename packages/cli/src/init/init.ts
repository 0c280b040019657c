import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { loadConfig } from '../config/load.js'
import { UsageError } from '../exit.js'
import { changeTokens } from '../operator/change-token.js'
import { print, printJson, tell } from '../output.js'
import { agentFile, reportFile } from './agent-file.js'
import { problemWith, usualNames } from './names.js'
import { type FoundPackage, findPackages, linkPackages, packageJson } from './packages.js'
import { askFor } from './questions.js'
import { type Names, spaceYaml } from './space-yaml.js'

export interface InitFlags {
  readonly space?: string
  readonly person?: string
  readonly agent?: string
  readonly listen?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** `meup init`: everything that a space with a first agent needs, in a folder that has nothing of it yet. */
export async function init(folder: string, { yes, json, ...given }: InitFlags): Promise<void> {
  const directory = resolve(folder)
  mustBeFree(directory)
  const packages = findPackages()
  const names = await namesFor(directory, given, !yes && !json && process.stdin.isTTY === true)
  const files = filesOf(names, packages)
  write(directory, files)
  linkPackages(packages, directory)
  const tokens = changeTokens(loadConfig(join(directory, 'space.yaml')), 'create', {})
  const written = [...Object.keys(files), ...tokens.map(({ entry }) => relative(directory, entry.file))]
  const commands = commandsFor(directory)
  if (json) return void printJson({ directory, ...names, files: written, commands })
  for (const file of written) tell(`✓ ${join(relative(process.cwd(), directory), file)}`)
  tell(`the space ${names.space}, with you as ${names.person} and an agent, ${names.agent}; now run:`)
  for (const command of commands) print(command)
  tell('the last one in another terminal there, or npx meup open for the page; then ask: Can we deploy?')
}

async function namesFor(directory: string, given: Partial<Names>, mayAsk: boolean): Promise<Names> {
  const proposed = { ...(await usualNames(directory)), ...given }
  const names = mayAsk ? await askFor(proposed) : proposed
  const problem = problemWith(names)
  if (problem !== undefined) throw new UsageError(problem)
  return names
}

const filesOf = (names: Names, packages: readonly FoundPackage[]): Readonly<Record<string, string>> => ({
  'space.yaml': spaceYaml(names),
  'agent.ts': agentFile,
  'files/report.txt': reportFile,
  'package.json': packageJson(names.space, packages),
  '.gitignore': 'node_modules/\n.meup/\n',
})

const places = [
  'space.yaml',
  'agent.ts',
  'files/report.txt',
  'package.json',
  '.gitignore',
  'node_modules',
  '.meup',
]

/** Nothing is ever written over. */
function mustBeFree(directory: string): void {
  const taken = places.filter((place) => existsSync(join(directory, place)))
  if (taken.length === 0) return
  throw new UsageError(
    `${directory} has ${taken.join(', ')} already; name another folder: meup init <folder>`,
  )
}

/** All of them, or none. */
function write(directory: string, files: Readonly<Record<string, string>>): void {
  const done: string[] = []
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content, { flag: 'wx' })
      done.push(path)
    }
  } catch (error) {
    for (const path of done) rmSync(path)
    throw error
  }
}

/** What to type next, from here. */
function commandsFor(directory: string): string[] {
  const folder = relative(process.cwd(), directory)
  return [...(folder === '' ? [] : [`cd ${quoted(folder)}`]), 'npx meup up', 'npx meup join']
}

/** As a shell takes it. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
