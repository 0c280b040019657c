import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { onOneLine } from '@meup/folds'
import { stringify } from 'yaml'
import { ConfigError } from '../config/config-error.js'
import { loadConfig, parseConfig } from '../config/load.js'
import { writeSecrets } from '../config/secrets.js'
import type { JsonOf } from '../json-outputs.js'
import { askConfirmation } from '../lib/confirm.js'
import { invalidValue, UsageError } from '../lib/exit.js'
import { findGiven } from '../lib/options.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { findFreePort } from '../lib/ports.js'
import { quoteWord } from '../lib/quote-word.js'
import { fillTemplate, listOthers } from './fill-template.js'
import { type ImportedServers, importServers, noServers } from './import/import-servers.js'
import { askInput, askProvider, askTemplate, askText } from './init-questions.js'
import { deriveNames, mustBeFolder } from './space-file.js'
import { addVersions, clone, linkPackages, missingArchives } from './template-packages.js'
import {
  localURL,
  type ModelChoice,
  type Names,
  type ProviderName,
  providers,
  type TemplateName,
  templates,
} from './templates.js'
import { changeTokens } from './tokens.js'

export interface InitFlags {
  readonly template?: TemplateName
  readonly provider?: ProviderName
  readonly model?: string
  readonly baseUrl?: string
  /** Name of the environment variable that contains the model's API key. */
  readonly key?: string
  readonly space?: string
  readonly person?: string
  readonly agent?: string
  readonly listen?: string
  /** Configuration files with MCP servers to import. */
  readonly import?: readonly string[]
  /** A folder with packed packages of this project, installed instead of those in the registry. */
  readonly from?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** `meup init`: creates a space in a folder that does not contain one. */
export async function init(folder: string, flags: InitFlags): Promise<void> {
  const directory = resolve(folder)
  const mayAsk = !flags.yes && !flags.json && process.stdin.isTTY === true
  const template = flags.template ?? (mayAsk ? await askTemplate() : 'hello')
  mustBeFree(directory, template)
  const archives = findArchives(flags.from)
  const model = await chooseModel(template, flags, mayAsk)
  const names = await chooseNames(directory, template, flags, mayAsk)
  const servers =
    flags.import === undefined
      ? noServers
      : importServers(flags.import, {
          taken: [names.person, names.agent, ...listOthers(template)],
          directory,
        })
  await mustBeAgreed(servers.uses, { isAgreed: flags.yes === true, mayAsk })
  const secrets = { ...servers.secrets, ...(await askInputs(servers.inputs, mayAsk)) }

  const { files: filled, packages } = createFiles(template, names, { model, servers, archives })
  const unset = servers.variables.filter((name) => process.env[name] === undefined)
  const variables = [...(model?.key ? [model.key] : []), ...unset]
  const env = { ...Object.fromEntries(variables.map((name) => [name, name])), ...secrets, ...process.env }
  parseConfig(filled['space.yaml'] ?? '', { file: 'space.yaml', env })
  write(directory, filled)
  writeSecrets(directory, secrets)
  const isLinked = clone !== undefined && flags.from === undefined
  if (isLinked) linkPackages(packages, directory)
  const config = loadConfig(join(directory, 'space.yaml'), env)
  const tokens = changeTokens(config, 'create', {})

  const files = [...Object.keys(filled), ...tokens.map(({ entry }) => relative(directory, entry.file))]
  const commands = commandsFor(directory, isLinked)
  const { question } = templates[template]
  const imported = Object.keys(servers.participants)
  const kept = Object.keys(secrets)
  const result = {
    ...{ directory, template, ...names, files, commands, question, imported, variables },
    secrets: kept,
  }
  if (flags.json) return void printJson<JsonOf<'init'>>(result)
  for (const file of files) printNotice(`✓ ${join(relative(process.cwd(), directory), file)}`)
  if (imported.length > 0)
    printNotice(
      `${names.person} may use the servers of ${flags.import?.join(' and ')}: ${imported.join(', ')}`,
    )
  for (const notice of servers.notices) printNotice(`… ${notice}`)
  if (kept.length > 0)
    printNotice(`… secrets are not in space.yaml, but in .meup/secrets next to it: ${kept.join(', ')}`)
  if (variables.length > 0)
    printNotice(
      `… not set here: ${variables.join(', ')}; set each in the environment of meup up, or write it into .meup/secrets/<name>`,
    )
  if (isLinked && missingArchives(archives ?? '').length > 0)
    printNotice(`… run pnpm packs in ${clone} before you install further packages`)
  if (!isLinked)
    printNotice('… npm install may take minutes without output: for Node 20 it compiles better-sqlite3')
  if (template === 'coder')
    printNotice('… it starts opencode: npm install -g opencode-ai && opencode auth login')
  printNotice(`the space ${names.space}, with you as ${names.person} and an agent, ${names.agent}; now run:`)
  for (const command of commands) print(command)
  printNotice(`the last one in another terminal there, or npx meup open for the page; then ask: ${question}`)
}

interface Contents {
  readonly model?: ModelChoice | undefined
  readonly servers?: Pick<ImportedServers, 'participants'>
  /** Folder with packed packages of this project, for clones and unpublished versions. */
  readonly archives?: string | undefined
}

/** The files of a new space, and the packages that it depends on. */
export function createFiles(
  template: TemplateName,
  names: Names,
  { model, servers = noServers, archives }: Contents = {},
) {
  const filled = fillTemplate(template, names, model)
  const { files, packages } = addVersions(filled, archives)
  const imported = Object.entries(servers.participants).map(importedYaml).join('')
  return {
    files: { ...filled, ...files, 'space.yaml': `${filled['space.yaml']}${imported}` } as Readonly<
      Record<string, string>
    >,
    packages,
  }
}

const importedYaml = ([id, participant]: [string, object]): string =>
  `\n${stringify({ [id]: participant }).replace(/^(?=.)/gm, '  ')}`

/** The folder with packed packages: the given one, or the folder that `pnpm packs` writes in a clone. */
function findArchives(from: string | undefined): string | undefined {
  if (from === undefined) return clone && join(clone, 'packs')
  const [missing] = missingArchives(resolve(from))
  if (missing !== undefined) throw new UsageError('missing_pack', { file: missing })
  return resolve(from)
}

/** Throws if a file exists already: no file is overwritten. */
function mustBeFree(directory: string, template: TemplateName): void {
  mustBeFolder(directory)
  const { space, human: person, agent } = deriveNames(directory)
  const places = Object.keys(fillTemplate(template, { space, person, agent, listen: '' }))
  const taken = [...places, 'node_modules', '.meup'].filter((place) => existsSync(join(directory, place)))
  if (taken.length === 0) return
  if (taken.includes('space.yaml'))
    throw new UsageError('file_exists', { file: join(directory, 'space.yaml') })
  throw new UsageError('folder_in_use', { folder: directory, files: taken })
}

/** Writes all files; removes them again if one fails. */
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

/** The suggested next commands, relative to the current folder. */
function commandsFor(directory: string, isInstalled: boolean): string[] {
  const folder = relative(process.cwd(), directory)
  return [
    ...(folder === '' ? [] : [`cd ${quoteWord(folder)}`]),
    ...(isInstalled ? [] : ['npm install']),
    'npx meup up',
    'npx meup join',
  ]
}

/** Determines the model from the flags, or by asking in a terminal. */
export async function chooseModel(
  template: TemplateName,
  { provider: given, model, baseUrl, key }: InitFlags,
  mayAsk: boolean,
): Promise<ModelChoice | undefined> {
  if (template !== 'model') {
    const option = findGiven({ '--provider': given, '--model': model, '--base-url': baseUrl, '--key': key })
    if (option === undefined) return undefined
    throw new UsageError('option_needed', { option, needed: '--template model' })
  }
  const choose = (
    value: string | undefined,
    question: string,
    proposed: string,
    check: (value: string) => UsageError | undefined,
  ): Promise<string> | string => {
    if (value === undefined && mayAsk) return askText(question, proposed, check)
    const chosen = value ?? proposed
    const problem = check(chosen)
    if (problem !== undefined) throw problem
    return chosen
  }
  const isElsewhere = given === undefined && baseUrl === undefined && mayAsk
  const provider = isElsewhere
    ? await askProvider()
    : (given ?? (baseUrl === undefined ? 'anthropic' : 'openai-compatible'))
  const proposed = providers[provider]
  const isCompatible = provider === 'openai-compatible'
  if (!isCompatible && baseUrl !== undefined)
    throw new UsageError('option_needed', { option: '--base-url', needed: '--provider openai-compatible' })
  return {
    provider,
    model: await choose(model, 'Name of the model', proposed.model, modelProblem),
    baseURL: isCompatible ? await choose(baseUrl, 'Its address', localURL, urlProblem) : '',
    key: await choose(
      key,
      `Environment variable with its key${isCompatible ? ', if it needs one' : ''}`,
      proposed.key,
      (value) => (value === '' && isCompatible ? undefined : keyProblem(value)),
    ),
  }
}

const modelProblem = (value: string): UsageError | undefined =>
  /^[\w.:/@+-]+$/.test(value) ? undefined : invalidValue('--model', 'model', value)

const urlProblem = (value: string): UsageError | undefined =>
  /^https?:\/\/[^\s'\\]+$/.test(value) && URL.canParse(value)
    ? undefined
    : invalidValue('--base-url', 'address', value)

/** Does not quote the input: it may be the key itself. */
const keyProblem = (value: string): UsageError | undefined =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(value) ? undefined : invalidValue('--key', 'key')

async function chooseNames(
  directory: string,
  template: TemplateName,
  { space, person, agent, listen }: Partial<Names>,
  mayAsk: boolean,
): Promise<Names> {
  const given = Object.entries({ space, person, agent, listen }).filter(([, value]) => value !== undefined)
  let names: Names = { ...(await proposeNames(directory, template)), ...Object.fromEntries(given) }
  const check = (changed: Partial<Names>): UsageError | undefined =>
    findProblem(template, { ...names, ...changed })
  if (mayAsk && space === undefined)
    names = { ...names, space: await askText('Name of the space', names.space, (space) => check({ space })) }
  if (mayAsk && person === undefined)
    names = {
      ...names,
      person: await askText('Your name in it', names.person, (person) => check({ person })),
    }
  const problem = check({})
  if (problem !== undefined) throw problem
  return names
}

/** Default names for this folder, and a free port. */
export async function proposeNames(folder: string, template: TemplateName): Promise<Names> {
  const { space, human } = deriveNames(folder)
  const { agent } = templates[template]
  return {
    space,
    person: human,
    agent: human === agent ? 'agent' : agent,
    // Port 8080 or one of the next, if one is free.
    listen: `127.0.0.1:${(await findFreePort('127.0.0.1', 8080)) ?? 0}`,
  }
}

/**
 * Prints what imported servers run and which environment variables they get, and asks for consent. Without a terminal, `--yes`
 * allows values of the environment to leave this machine.
 */
async function mustBeAgreed(
  uses: ImportedServers['uses'],
  { isAgreed, mayAsk }: { readonly isAgreed: boolean; readonly mayAsk: boolean },
): Promise<void> {
  for (const use of uses) printNotice(`… ${describeUse(use)}`)
  if (uses.length === 0 || isAgreed) return
  if (mayAsk) {
    if (await askConfirmation('Add these servers?')) return
    throw new UsageError('cancelled', {})
  }
  const leaking = uses.filter(({ isRemote, variables }) => isRemote && variables.length > 0)
  if (leaking.length === 0) return
  const values = leaking.map(({ id, variables }) => `${id} gets ${variables.join(', ')}`).join('; ')
  throw new UsageError('leaving_values', { values })
}

/** Asks for the inputs of imported files. Without a terminal they must be set in the environment or have a default. */
async function askInputs(
  inputs: ImportedServers['inputs'],
  mayAsk: boolean,
): Promise<Record<string, string>> {
  const missing = Object.entries(inputs).filter(([variable]) => process.env[variable] === undefined)
  const answers: Record<string, string> = {}
  for (const [variable, input] of missing) {
    const answer = mayAsk ? await askInput(variable, input) : input.default
    if (answer !== undefined) answers[variable] = answer
  }
  const open = missing.filter(([variable]) => answers[variable] === undefined)
  if (open.length === 0) return answers
  const values = open.map(([variable, { description }]) =>
    onOneLine(`${variable} (${description ?? variable})`),
  )
  throw new UsageError('missing_values', { values })
}

function describeUse({ id, target, isRemote, variables }: ImportedServers['uses'][number]): string {
  const gets = variables.length === 0 ? '' : `; it gets ${variables.join(', ')} of the environment`
  return onOneLine(`${id} ${isRemote ? 'is at' : 'runs'} ${target}${gets}`)
}

/** Validates the names; returns the problem, if any. */
export function findProblem(template: TemplateName, names: Names): UsageError | undefined {
  const others = listOthers(template)
  const ids = [names.person, names.agent, ...others]
  if (new Set(ids).size < ids.length) return new UsageError('same_names', { names: ids })
  try {
    parseConfig(fillTemplate(template, names)['space.yaml'] ?? '', { file: 'space.yaml', env: {} })
    return undefined
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const problems = error.problems.map(({ path, message }) => `${path}: ${message}`)
    return new UsageError('invalid_names', { problems })
  }
}
