/**
 * `meup space`: writes and checks a single `space.yaml`. The command for a whole folder from a template, `meup init`, is in
 * `init.ts`; it takes its names from here.
 */

import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import { ConfigError } from '../config/config-error.js'
import { readConfig } from '../config/load.js'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import { describeStar, findConfigWarnings } from '../lib/capabilities.js'
import { UsageError } from '../lib/exit.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { summarizeConfig, summaryLines } from './settings.js'

/** `meup space init`: writes a first `space.yaml`. Never overwrites a file. */
export function initSpace(folder: string, { json }: { json?: boolean }): void {
  const file = join(resolve(folder), 'space.yaml')
  const names = deriveNames(folder)
  mustBeFolder(dirname(file))
  mkdirSync(dirname(file), { recursive: true })
  try {
    writeFileSync(file, '', { flag: 'wx' }) // Fails if the file exists, before anything else is written.
    writeFileSync(file, placeSchema(dirname(file)) + spaceTemplate(names))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new UsageError('file_exists', { file })
  }
  if (json) return void printJson<JsonOf<'space init'>>({ file, ...names })
  const elsewhere = relative(process.cwd(), dirname(file))
  const meup = elsewhere === '' ? 'meup' : `meup -C ${elsewhere}`
  print(file)
  printNotice(`the space ${names.space}, with ${names.human} (you) and an agent, ${names.agent}`)
  printNotice(`run it with: ${meup} up · join it from another terminal: ${meup} join`)
}

/** Throws if a file is in the place of this folder or of one above it. */
export function mustBeFolder(folder: string): void {
  let place = resolve(folder)
  while (!existsSync(place)) place = dirname(place)
  if (!statSync(place).isDirectory()) throw new UsageError('not_a_folder', { path: place })
}

/** `meup space validate`: prints every mistake, or a summary. */
export function validateSpace({ config: path, json }: { config: string; json?: boolean }): void {
  const file = resolve(path)
  try {
    const read = readConfig(path)
    const summary = summarizeConfig(read)
    const warnings = findConfigWarnings(read.config)
    if (json) printJson<JsonOf<'space validate'>>({ valid: true, file, ...summary })
    else for (const line of summaryLines(path, summary, warnings.length)) print(line)
    for (const warning of warnings) printNotice(`warning: ${warning}`)
    for (const line of describeStar(read.config)) printNotice(`… ${line}`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    if (json) printJson<JsonOf<'space validate'>>({ valid: false, file, problems: error.problems })
    else print(error.message)
    process.exitCode = exitCodes.usage
  }
}

interface SpaceNames {
  readonly space: string
  readonly human: string
  readonly agent: string
}

/** Derives names for a new space from the folder and the login name; `root` does not name a person. */
export function deriveNames(folder: string, login: string = loginName()): SpaceNames {
  const space = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '')
  const human = login
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64)
  return {
    space: space || 'demo',
    human: human === 'root' ? 'operator' : human || 'operator',
    agent: human === 'helper' ? 'agent' : 'helper',
  }
}

/** The login name; containers may run as a user that has none. */
function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return process.env.USER ?? ''
  }
}

/** The text of a first `space.yaml`. */
export const spaceTemplate = ({ space, human, agent }: SpaceNames): string => `\
# Who is in the space, and what each may do. "meup up" runs it; "meup space validate" checks it.
version: 1
space: ${text(space)}
gateway:
  listen: 127.0.0.1:8080 # this machine alone; port 0 = any free port

participants:
  # You. "*" = may send anything. Join with: meup join
  ${text(human)}: { kind: human, capabilities: ["*"] }

  # An agent that you write. It may talk, think aloud, and use its own tools. Its token: .meup/tokens/${agent}, made on the first start
  ${text(agent)}: { kind: agent, capabilities: [chat, "reasoning.*", { tool: "me/*" }] }

  # A tool server, started with the space. Its users need { kind: mcp.request, to: files }
  # files: { kind: mcp, command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", .] }
`

/** Formats a name as YAML: "null" or "1" need quotes. */
const text = (name: string): string => stringify(name).trim()

const shipped = new URL('../../schema/space.schema.json', import.meta.url)
const [ofPackage, copy] = ['node_modules/meup/schema/space.schema.json', 'space.schema.json']

/** First line of a space.yaml next to an installed package: editors use its schema to complete and validate. */
export const schemaLine = `# yaml-language-server: $schema=./${ofPackage}\n`

/** The schema line; copies the schema next to the file if the package is not installed. */
export function placeSchema(directory: string): string {
  if (existsSync(join(directory, ofPackage))) return schemaLine
  if (!existsSync(join(directory, copy))) copyFileSync(shipped, join(directory, copy))
  return schemaLine.replace(ofPackage, copy)
}
