import { readFileSync } from 'node:fs'
import {
  ConnectionError,
  type ConnectOptions,
  connect,
  readEnvironment,
  type SpaceClient,
} from '@meup/agent-sdk'
import { HttpClient, listSpaces } from '@meup/agent-sdk/http'
import type { DialRequest } from '@meup/agent-sdk/internal'
import { onOneLine } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import type { Command } from 'commander'
import { Failure } from '../failure/failure.js'
import { UsageError } from './exit.js'
import { promptRetry, retryPutOff } from './retry.js'
import { readGatewayFile } from './running-gateway.js'
import { suggestNames } from './unknown-name.js'

export interface ConnectionFlags {
  readonly url?: string
  readonly space?: string
  readonly as?: string
  readonly tokenFile?: string
  readonly json?: boolean
}

/** Adds the options of commands that use a space, with `--json`. */
export const withConnection = (command: Command, json = 'print envelopes as JSON, one a line'): Command =>
  withTarget(command).option('--json', json)

/**
 * Adds the options of commands that use a space, without `--json`. If no space is named, the command uses the only one that the
 * token opens.
 */
export const withTarget = (command: Command): Command =>
  addTargetOptions(command).hook('preAction', async (_, chosen) => {
    // A command that is given a file to read needs no gateway.
    const readsFile = chosen.args.length > 0 && chosen.registeredArguments[0]?.name() === 'file'
    if (readsFile) return
    const space = await findOnlySpace(chosen.opts<ConnectionFlags>())
    if (space !== undefined) chosen.setOptionValue('space', space)
  })

/** Adds the options that select a space. Unlike `withTarget`, does not ask the gateway for the space if none is named. */
export const addTargetOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the gateway (default: MEUP_URL, or the one running in this folder)')
    .option('--space <name>', 'space to enter (default: MEUP_SPACE, or its only one)')
    .option('--as <participant>', 'whom to be (default: MEUP_PARTICIPANT, or the first person of the space)')
    .option('--token-file <file>', 'file with the token (default: MEUP_TOKEN, or .meup/tokens/<participant>)')

/** Connects to the space that the flags select. `resume.after` is a seq of the current log. */
export async function enterSpace(
  flags: ConnectionFlags,
  resume: Pick<ConnectOptions, 'after' | 'tail' | 'openProposals'> = {},
): Promise<SpaceClient> {
  const epoch = resume.after === undefined ? undefined : await readEpoch(createHttpClient(flags))
  const options = { ...resume, ...omitUndefined({ epoch }), ...buildConnectOptions(flags) }
  const space = await retryPutOff(() => connect(options), promptRetry)
  // Replayed requests were addressed to an earlier connection, so they are left unanswered.
  if (resume.after !== undefined || resume.tail !== undefined) space.serve(() => new Promise(() => {}))
  return space
}

type ConnectionEvents = Pick<SpaceClient, 'on'>

/**
 * Notifies when the connection is lost and restored. A repeated reason for the loss is notified once, not at each attempt; with
 * `hint`, the user's next step, only the first reason, because the footer shows later ones. The result says whether the
 * connection is open.
 */
export function announceConnection(
  space: ConnectionEvents,
  notify: (line: string) => void,
  hint?: string,
): { readonly isOpen: boolean } {
  const reasons = new Set<string>()
  space.on('reconnecting', (_, reason) => {
    const isNew = hint === undefined ? !reasons.has(reason) : reasons.size === 0
    if (isNew) notify(`… ${reason}; trying again${hint ?? ''}`)
    reasons.add(reason)
  })
  space.on('connected', () => {
    reasons.clear()
    notify('… connected again')
  })
  space.on('lost', () => notify('… the log is another one now; this is its beginning'))
  return {
    get isOpen() {
      return reasons.size === 0
    },
  }
}

/** Gateway, space and token from the flags, the environment and this folder. */
export const resolveTarget = (flags: ConnectionFlags): DialRequest =>
  readEnvironment(buildConnectOptions(flags))

/**
 * An HTTP client for the space that the flags select. It repeats queries that the gateway puts off: other terminals of the same
 * person may be using up the requests that a participant may have in progress.
 */
export const createHttpClient = (flags: ConnectionFlags): HttpClient =>
  new HttpClient(resolveTarget(flags), { retry: (send) => retryPutOff(send, promptRetry) })

/**
 * The space to use if a gateway outside of this folder is chosen, but no space: the only one that the token opens. Throws
 * `UsageError` if it opens several.
 */
async function findOnlySpace(flags: ConnectionFlags): Promise<string | undefined> {
  if (isSpaceKnown(flags)) return undefined
  const { url, token } = readEnvironment({ ...buildConnectOptions(flags), space: '' })
  const [space, ...others] = await listSpaces(url, token)
  if (space !== undefined && others.length > 0)
    throw new UsageError('ambiguous_space', { spaces: [space, ...others].map(onOneLine) })
  return space
}

function isSpaceKnown(flags: ConnectionFlags): boolean {
  try {
    resolveTarget(flags)
    return true
  } catch (error) {
    // Other errors are not about the space; the command throws them when it resolves the target itself.
    return !(error instanceof ConnectionError && error.details.option === 'space')
  }
}

/** The epoch of the current log: seqs are only valid with it. */
async function readEpoch(http: HttpClient): Promise<string> {
  const { epoch } = await http.readLogPage({ limit: 1 })
  return epoch
}

/** Maximum wait before an attempt to reconnect: a person may be watching. */
const maxReconnectMs = 5000

function buildConnectOptions(flags: ConnectionFlags): ConnectOptions {
  const { url, space, tokenFile } = flags
  mustRun(flags)
  const as = flags.as ?? defaultPerson(space)
  const token = tokenFile === undefined ? undefined : readToken(tokenFile)
  // Commands are observers: they decline requests, and do not replace the participant's other connections.
  const observer = { unhandled: 'decline', session: false, reconnect: { maxMs: maxReconnectMs } } as const
  return omitUndefined({ url, space, as, token, ...observer })
}

/** Throws `Failure` if the space is not one of this folder's running gateway. */
function mustRun({ url, space }: ConnectionFlags): void {
  const name = space ?? process.env.MEUP_SPACE
  if (name === undefined || url !== undefined || process.env.MEUP_URL !== undefined) return
  const { spaces } = readGatewayFile(process.cwd()) ?? {}
  if (spaces !== undefined && !spaces.includes(name))
    throw new Failure('unknown_space', { space: onOneLine(name) })
}

/** The first person of the space, unless a participant or a token is given. */
function defaultPerson(space: string | undefined): string | undefined {
  if (process.env.MEUP_PARTICIPANT !== undefined || process.env.MEUP_TOKEN !== undefined) return undefined
  const running = readGatewayFile(process.cwd())
  return running?.people[space ?? process.env.MEUP_SPACE ?? running.spaces[0] ?? '']?.[0]
}

function readToken(file: string): string {
  const token = readText(file).trim()
  if (token === '') throw new UsageError('empty_token_file', { file })
  return token
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new Failure('missing_file', { path }, { cause })
  }
}

/** Throws `Failure` if a name is not a participant of the space. */
export function mustKnow(
  { participants }: Pick<SpaceClient, 'participants'>,
  names: readonly string[],
): void {
  const ids = participants.map(({ id }) => id)
  const name = names.find((each) => !ids.includes(each))
  if (name === undefined) return
  throw new Failure('unknown_participant', { name: onOneLine(name), meant: suggestNames(name, ids) })
}

/** Connects to the space that the flags select, runs `act`, and disconnects. */
export async function withSpace(
  flags: ConnectionFlags,
  act: (space: SpaceClient) => Promise<void>,
): Promise<void> {
  const space = await enterSpace(flags)
  try {
    await act(space)
  } finally {
    space.close()
  }
}
