import { rmSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onOneLine } from '@meup/folds'
import { addAdvice, compileCapabilities, Kind, omitUndefined } from '@meup/protocol'
import type { SpaceEntry } from '../config/config.js'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import { type ProgramReport, requestControl } from '../lib/control-client.js'
import { UsageError } from '../lib/exit.js'
import { gatewayMessages, notifyGateway } from '../lib/notify-gateway.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { ownCommand } from '../lib/own-command.js'
import { quoteWord } from '../lib/quote-word.js'
import { findGateway } from '../lib/running-gateway.js'
import { changeTokens, tokenEntries } from './tokens.js'
import { type ServerRequest, type WrittenServer, writeServer } from './write-server.js'

export interface AddFlags extends Omit<ServerRequest, 'name' | 'target'> {
  readonly config: string
  readonly json?: boolean
  /** The folder given with `meup -C`, repeated in the suggested next command. */
  readonly C?: string
}

/** `meup add`: adds an MCP server to space.yaml; a running `meup up` starts it. `words`: the arguments after the name. */
export async function add(
  name: string,
  { words, isCommand }: { readonly words: readonly string[]; readonly isCommand: boolean },
  { config, json, C, ...options }: AddFlags,
): Promise<void> {
  const target = isCommand ? readCommand(name, words) : readAddress(name, words)
  const written = writeServer(config, { ...options, name, target })
  const announced = await announce(name, written)
  const { gateway, program, tokens } = announced
  const error = program?.lastError
  if (gateway === 'silent' || error !== undefined) process.exitCode = exitCodes.error
  const isTakenBack = error !== undefined && (await takeBack(written, tokens))
  const { participant, space, notices } = written
  const secrets = isTakenBack ? [] : written.secrets
  const change = isTakenBack ? 'none' : written.change
  const { file } = written.config
  if (json) {
    const result = { participant: name, space: space.config.name, file, change, server: participant }
    return void printJson<JsonOf<'add'>>({
      ...result,
      secrets,
      notices,
      gateway,
      ...(program && { program }),
    })
  }
  if (isTakenBack)
    return void printNotice(
      onOneLine(addAdvice(`✗ ${name} is not added: ${error}`, 'correct that, and repeat this')),
    )
  const what =
    'url' in participant ? participant.url : [participant.command, ...(participant.args ?? [])].join(' ')
  printNotice(onOneLine(`✓ ${name} ${changes[change]} ${config}: ${what}`))
  for (const notice of notices) printNotice(`… ${notice}`)
  if (secrets.length > 0)
    printNotice(`… secrets are not in ${config}, but in .meup/secrets next to it: ${secrets.join(', ')}`)
  printNotice(onOneLine(describeStart(name, announced)))
  if (error !== undefined) return
  printNotice(describeUsers(name, space.config.participants))
  print(nextCommand({ config, ...omitUndefined({ C }) }, gateway === 'none' ? 'up' : 'join'))
}

const changes: Record<WrittenServer['change'], string> = {
  added: 'is added to',
  replaced: 'is replaced in',
  none: 'was already in',
}

function readCommand(name: string, words: readonly string[]): ServerRequest['target'] {
  if (words.length > 0) return { command: words }
  throw new UsageError('missing_server', { name })
}

function readAddress(name: string, words: readonly string[]): ServerRequest['target'] {
  const [url, ...others] = words
  if (url === undefined) throw new UsageError('missing_server', { name })
  const isUrl = /^\$\{/.test(url) || (/^https?:\/\//i.test(url) && URL.canParse(url))
  if (isUrl && others.length === 0) return { url }
  const command = `meup add ${name} -- ${words.map(quoteWord).join(' ')}`
  throw new UsageError('not_an_address', { value: words.join(' '), command })
}

/** Takes out a server that was added and does not start, so that the command can be corrected and repeated. */
async function takeBack(
  { config, space, ...written }: WrittenServer,
  tokens: ChangedTokens,
): Promise<boolean> {
  if (!written.takeBack()) return false
  for (const { entry, before } of tokens) if (before === undefined) rmSync(entry.file, { force: true })
  const rejected = tokens.flatMap(({ after }) => after ?? [])
  await notifyGateway(config.directory, { space: space.config.name, accepted: [], rejected })
  return true
}

type ChangedTokens = ReturnType<typeof changeTokens>

interface Announced {
  readonly gateway: keyof typeof gatewayMessages
  /** State of the server's program after the wait; absent if no `meup up` runs or the server is not to be started. */
  readonly program?: ProgramReport
  readonly tokens: ChangedTokens
}

/** Gives the server a new token, makes a running gateway reload, and waits for the server to start. */
async function announce(
  name: string,
  { config, space, change, isStarted }: WrittenServer,
): Promise<Announced> {
  const { directory } = config
  const selection = { space: space.config.name, participant: name }
  const state = tokenEntries(config, selection)[0]?.state
  const isRevoked = state === 'revoked' && change !== 'added'
  if (isRevoked)
    printNotice(`… ${name} is not started, because its token is revoked; meup token create ${name} makes one`)
  const isAbsent = state === 'missing' || state === 'revoked'
  // Gives the server a new token even if it has a usable one: once the gateway accepts the new token, it has reloaded.
  const verb = isRevoked || !isStarted ? undefined : isAbsent ? 'create' : 'rotate'
  const tokens = verb === undefined ? [] : changeTokens(config, verb, selection)
  const gateway = await notifyGateway(directory, {
    space: selection.space,
    accepted: tokens.flatMap(({ after }) => after ?? []),
    rejected: [],
  })
  if (gateway !== 'applied' || verb === undefined) return { gateway, tokens }
  const started = await waitForStart(
    directory,
    ({ space, participant }) => participant === name && space === selection.space,
  )
  return { ...started, tokens }
}

/**
 * Maximum milliseconds until a reload shows in the states of programs, and until a program starts, which may install a package;
 * poll interval.
 */
const [followMs, startMs, lookMs] = [5000, 60_000, 100]

/** Waits until the program runs or has failed. */
async function waitForStart(
  directory: string,
  isMeant: (program: ProgramReport) => boolean,
): Promise<Omit<Announced, 'tokens'>> {
  const began = Date.now()
  for (;;) {
    const running = await findGateway(directory)
    if (running?.control === undefined) return { gateway: 'applied' }
    const { programs } = await requestControl(directory, 'programs', {})
    const program = (programs as readonly ProgramReport[]).find(isMeant)
    const waitedMs = Date.now() - began
    if (program === undefined && waitedMs > followMs) return { gateway: 'silent' }
    if (program !== undefined && (isDecided(program) || waitedMs > startMs))
      return { gateway: 'applied', program }
    await pause(lookMs)
  }
}

const isDecided = ({ state, lastError }: ProgramReport): boolean =>
  ['running', 'resting'].includes(state) || lastError !== undefined

function describeStart(name: string, { gateway, program }: Announced): string {
  if (program === undefined) return gatewayMessages[gateway]
  const { state, lastError } = program
  if (state === 'running') return `${name} is started and in the space`
  if (lastError === undefined) return `${name} is still starting; meup up reports when it is up`
  return addAdvice(
    `✗ ${name} does not start: ${lastError}`,
    `correct it with meup add ${name} --replace, or see what it prints with meup logs ${name}`,
  )
}

/** Lists the participants that may use the server, and the capability that others need. */
function describeUsers(name: string, participants: SpaceEntry['config']['participants']): string {
  const listing = { kind: Kind.mcpRequest, to: [name], payload: { method: 'tools/list' } }
  const users = Object.entries(participants)
    .filter(([, { capabilities }]) => compileCapabilities(capabilities).allows(listing).allowed)
    .map(([id]) => id)
  const needed = `{ tool: "${name}/*" } in capabilities lets a participant use it`
  return users.length === 0
    ? `no participant may use it yet: ${needed}`
    : `${users.join(', ')} may use it; ${needed}`
}

/** The suggested next command, relative to the shell's current folder. */
function nextCommand({ config, C = '' }: Pick<AddFlags, 'config' | 'C'>, command: 'up' | 'join'): string {
  const folder = isAbsolute(config) ? dirname(config) : join(C, dirname(config))
  const file = basename(config)
  const meup = ownCommand(dirname(config), process.env.PATH ?? '')
  return [
    meup,
    ...(folder === '.' ? [] : ['-C', quoteWord(folder)]),
    command,
    ...(command === 'up' && file !== 'space.yaml' ? ['--config', quoteWord(file)] : []),
  ].join(' ')
}
