import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import { stringify } from 'yaml'
import { ConfigError } from '../config/config-error.js'
import { loadConfig, parseConfig } from '../config/load.js'
import { UsageError } from '../lib/exit.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { findFreePort } from '../lib/ports.js'
import { schemaLine } from './editor-schema.js'
import { type ImportedServers, importServers, noServers } from './import-servers.js'
import { deriveNames } from './space.js'
import { changeTokens } from './tokens.js'

export interface InitFlags {
  readonly space?: string
  readonly person?: string
  readonly agent?: string
  readonly listen?: string
  /** A file with `mcpServers`. */
  readonly import?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** `meup init`: creates the files of a space with a first agent, in a folder that has none of them. */
export async function init(folder: string, flags: InitFlags): Promise<void> {
  const { yes, json, import: path, ...given } = flags
  const directory = resolve(folder)
  mustBeFree(directory)
  const packages = findPackages()
  const names = await resolveNames(directory, given, !yes && !json && process.stdin.isTTY === true)
  const { person, agent } = names
  const servers = path === undefined ? noServers : importServers(path, [person, agent, 'files'])
  const env = { ...process.env, ...servers.secrets }
  const files = createFiles(names, packages, servers)
  parseConfig(files['space.yaml'], { file: 'space.yaml', env })
  write(directory, files)
  linkPackages(packages, directory)
  const tokens = changeTokens(loadConfig(join(directory, 'space.yaml'), env), 'create', {})
  const written = [...Object.keys(files), ...tokens.map(({ entry }) => relative(directory, entry.file))]
  const commands = commandsFor(directory)
  const variables = Object.keys(servers.secrets)
  const imported = Object.keys(servers.participants)
  const result = {
    directory,
    ...names,
    files: written,
    commands,
    ...(path !== undefined && { imported, variables }),
  }
  if (json) return void printJson(result)
  for (const file of written) printNotice(`✓ ${join(relative(process.cwd(), directory), file)}`)
  printNotice(`the space ${names.space}, with you as ${names.person} and an agent, ${names.agent}; now run:`)
  if (imported.length > 0) printNotice(`${person} may use the servers of ${path}: ${imported.join(', ')}`)
  for (const notice of servers.notices) printNotice(`… ${notice}`)
  if (variables.length > 0)
    printNotice(
      `… secrets are not in space.yaml: set ${variables.join(', ')} in the environment first, to what ${path} has`,
    )
  for (const command of commands) print(command)
  printNotice(
    'the last one in another terminal there, or npx meup open for the page; then ask: Can we deploy?',
  )
}

async function resolveNames(directory: string, given: Partial<Names>, mayAsk: boolean): Promise<Names> {
  const proposed = { ...(await proposeNames(directory)), ...given }
  const names = mayAsk ? await askNames(proposed) : proposed
  const problem = validateNames(names)
  if (problem !== undefined) throw new UsageError(problem)
  return names
}

const createFiles = (names: Names, packages: readonly FoundPackage[], servers: ImportedServers) => ({
  'space.yaml': spaceYaml(names, servers),
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

/** Throws if one of the files exists: nothing is overwritten. */
function mustBeFree(directory: string): void {
  const taken = places.filter((place) => existsSync(join(directory, place)))
  if (taken.length === 0) return
  throw new UsageError(
    `${directory} has ${taken.join(', ')} already; name another folder: meup init <folder>`,
  )
}

/** Writes all files, or none. */
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

/** The commands to type next, from the current folder. */
function commandsFor(directory: string): string[] {
  const folder = relative(process.cwd(), directory)
  return [...(folder === '' ? [] : [`cd ${quoted(folder)}`]), 'npx meup up', 'npx meup join']
}

/** Quotes a path for a shell. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`

/** Proposes names for this folder, and a free port. */
export async function proposeNames(folder: string): Promise<Names> {
  const { space, human } = deriveNames(folder)
  return {
    space,
    person: human,
    agent: human === 'reviewer' ? 'agent' : 'reviewer',
    // A usual port if possible.
    listen: `127.0.0.1:${(await findFreePort('127.0.0.1', 8080)) ?? 0}`,
  }
}

/** Returns the problem with these names, or `undefined`. */
export function validateNames(names: Names): string | undefined {
  const { person, agent } = names
  if (person === agent || [person, agent].includes('files')) {
    return `you, the agent and "files" need different names: ${person}, ${agent}`
  }
  try {
    parseConfig(spaceYaml(names), { file: 'space.yaml', env: {} })
    return undefined
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw error
  }
}

const questions: readonly (readonly [name: keyof Names, question: string])[] = [
  ['space', 'Name of the space'],
  ['person', 'Your name in it'],
  ['agent', 'Name of your first agent'],
  ['listen', 'Where it listens'],
]

/** Asks for each name until it is valid. Enter accepts the proposal. */
async function askNames(proposed: Names): Promise<Names> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    let names = proposed
    for (const [name, question] of questions) names = await askName(terminal, names, name, question)
    return names
  } finally {
    terminal.close()
  }
}

async function askName(
  terminal: Interface,
  names: Names,
  name: keyof Names,
  question: string,
): Promise<Names> {
  for (;;) {
    const typed = (await terminal.question(`${question} (${names[name]}): `)).trim()
    const answered = typed === '' ? names : { ...names, [name]: typed }
    const problem = validateNames(answered)
    if (problem === undefined) return answered
    process.stderr.write(`✗ ${problem}\n`)
  }
}

/** Names and address of a new space. */
interface Names {
  readonly space: string
  /** You. */
  readonly person: string
  readonly agent: string
  /** `host:port` */
  readonly listen: string
}

/** The configuration of a first space: you, an agent that runs with it, and a tool that reads files. */
export const spaceYaml = (
  { space, person, agent, listen }: Names,
  { participants }: Pick<ImportedServers, 'participants'> = noServers,
): string => `\
${schemaLine}# Who is in the space, and what each may do. "meup up" runs it; "meup space validate" checks it.
version: 1
space: ${text(space)}
gateway:
  listen: ${text(listen)} # 127.0.0.1 = this machine alone

participants:
  # You. "*" = may send anything.
  ${text(person)}: { kind: human, capabilities: ["*"] }

  # Your first agent, which starts and ends with the space, and restarts when you save agent.ts.
  # It may talk, think, offer tools, and use those of files.
  # With mcp.proposal in the place of { kind: mcp.request, to: files } it has to ask you each time.
  ${text(agent)}:
    kind: process
    command: node
    args: [--import, tsx, agent.ts]
    capabilities: [chat, "reasoning.*", mcp.response, { kind: mcp.request, to: files }]

  # A tool server, which sees the folder ./files and nothing else.
  files:
    kind: mcp
    command: node
    args: [node_modules/@modelcontextprotocol/server-filesystem/dist/index.js, ./files]
${Object.entries(participants).map(importedYaml).join('')}`

const importedYaml = ([id, participant]: [string, object]): string =>
  `\n${stringify({ [id]: participant }).replace(/^(?=.)/gm, '  ')}`

/** A name as YAML: names such as "null" or "1" need quotes. */
const text = (name: string): string => stringify(name).trim()

/** A package that the files of a new space use, and where this command found it. */
interface FoundPackage {
  readonly name: string
  readonly folder: string
  /** Specifier for package.json: a version, or the folder of an unpublished package. */
  readonly specifier: string
}

const needed = [
  'meup',
  '@meup/agent-sdk',
  '@modelcontextprotocol/server-filesystem',
  '@sinclair/typebox',
  'tsx',
] as const

/** Finds the packages in the installation of this command. Throws if one is missing. */
export const findPackages = (): FoundPackage[] => needed.map(found)

function found(name: string): FoundPackage {
  const self = createRequire(import.meta.url)
  const places = self.resolve.paths(name) ?? []
  const place = places.map((path) => join(path, name)).find((path) => existsSync(join(path, 'package.json')))
  if (place === undefined) {
    throw new Error(
      `${name} is not installed beside meup; run this from a clone in which pnpm install was run`,
    )
  }
  const folder = realpathSync(place)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const isInstalled = folder.split(sep).includes('node_modules')
  return { name, folder, specifier: isInstalled ? version : `link:${folder}` }
}

/** Links the packages into a folder, as an installation of its package.json would; `meup` is a command there. */
function linkPackages(packages: readonly FoundPackage[], directory: string): void {
  const modules = join(directory, 'node_modules')
  for (const { name, folder } of packages) {
    const link = join(modules, name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(folder, link, 'junction')
  }
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(join('..', 'meup', 'bin', 'meup.js'), join(modules, '.bin', 'meup'))
}

/** The package.json of a new space. */
export const packageJson = (name: string, packages: readonly FoundPackage[]): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: { start: 'meup up', join: 'meup join' },
      dependencies: Object.fromEntries(packages.map(({ name, specifier }) => [name, specifier])),
    },
    null,
    2,
  )}\n`

/** The agent of the README. */
export const agentFile = `\
import { connect } from '@meup/agent-sdk'
import { Type } from '@sinclair/typebox'

await using space = await connect() // MEUP_URL, MEUP_SPACE, MEUP_TOKEN, or the .meup folder of a gateway nearby

const lines = (text: string) => text.split('\\n').filter((line) => line.startsWith('FAIL'))
space.tool('failures', { input: Type.Object({ text: Type.String() }) }, ({ text }) => lines(text).join('\\n'))

await space.answer(async (turn) => {
  const failed = await turn.reason(\`Thinking about: \${turn.text}\`, async (r) => {
    await r.thought('The change is small; the test report decides')
    const { text } = await r.call(
      'files/read_text_file',
      { path: 'report.txt' },
      { why: 'what fails decides' },
    )
    const failed = lines(text)
    await r.conclude(failed.length === 0 ? 'Nothing fails' : \`\${failed.length} tests fail\`)
    return failed
  })
  await turn.reply(failed.length === 0 ? 'Go ahead.' : \`I recommend against deploying: \${failed.join(', ')}\`)
})
`

/** The file that the agent reads. */
const reportFile = `\
ok 1 signs in
FAIL 2 token expires
ok 3 signs out
`
