import { existsSync, readFileSync } from 'node:fs'
import type { Authenticator, Identity, Kick, Logger, LogStore, Served, ServeOptions } from '@meup/gateway'
import type { JwtAuthenticator, JwtSettings } from '@meup/gateway/jwt'
import { pageDirectory } from '@meup/observer'
import type { ProgramInfo } from '@meup/protocol'
import { getErrorMessage, omitUndefined } from '@meup/protocol'
import { compileSafety, defaultSafety, warmUp } from '@meup/safety'
import type { AuthSettings, Config } from '../config/config.js'
import { isAddress } from '../config/notation.js'
import { loadBackend } from '../config/storage.js'
import { ensureTokens, type TokenOptions } from '../config/tokens.js'
import { describeFailure, Failure } from '../failure/failure.js'
import { findConfigWarnings } from '../lib/capabilities.js'
import { isClockWrong } from '../lib/clock.js'
import { formatError, UsageError } from '../lib/exit.js'
import { explainListenError, findFreePort, formatAddress, tryToListen } from '../lib/ports.js'
import { findGateway, removeGatewayFile, writeGatewayFile, writeNames } from '../lib/running-gateway.js'
import { listRunning, unlistRunning } from '../lib/running-spaces.js'
import { traceSpaces } from './tracing.js'

/** Tokens by space and participant. */
export type TokensBySpace = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface RunningGateway {
  readonly url: string
  readonly spaces: readonly string[]
  /** The current configuration. */
  readonly config: Config
  readonly tokens: TokensBySpace
  /** Issuer whose JWTs are accepted in addition to token files; `undefined` if none is configured. */
  readonly jwt: JwtSettings | undefined
  /**
   * Applies a configuration from `selectApplicable`, and rereads tokens and keys. Resolves to the problems with them; the
   * affected ones stay unchanged. Rejects if the log of a space cannot be written.
   */
  reload(next: Config): Promise<string[]>
  /** Whether a participant is connected. */
  isPresent(space: string, participant: string): boolean
  /** The kick that keeps a participant out; `undefined` if there is none or it has expired. */
  findKick(space: string, participant: string): Kick | undefined
  /** Records the state of a participant's program in the log; `undefined` if it no longer has one. */
  setProgram(space: string, participant: string, program: ProgramInfo | undefined): void
  /** Notifies the gateway that the program with this session has ended. */
  endProgram(space: string, participant: string, session: string): void
  /** Returns `true` if another program has joined as this participant since the program with this session. */
  isReplaced(space: string, participant: string, session: string): boolean
  /** Adds the path of the control socket of `meup up` to `.meup/gateway.json`, in which commands look for the gateway. */
  announceControl(path: string): void
  /** Compiles the safety rules in short steps, so that the first reasoning texts are not delayed. */
  warmUp(): void
  close(): Promise<void>
}

export interface StartOptions {
  /** Whether to take the next free port if the configured one is in use. */
  readonly mayMove: boolean
}

/** Opens the log, reads the tokens, and listens on the configured address. */
export async function startGateway(
  config: Config,
  logger: Logger,
  { mayMove }: StartOptions,
): Promise<RunningGateway> {
  let current = config
  for (const warning of findConfigWarnings(config)) logger.warn({}, warning)
  if (isClockWrong(Date.now()))
    logger.warn({}, describeFailure('wrong_clock', { time: new Date().toISOString() }))
  let tokens = readTokens(config, logger)
  const jwt = new IssuerTokens(logger)
  await jwt.replace(config)
  const openStore = await loadBackend(config.storage, logger)
  // Opened while the gateway's code is imported, because the threads of the store also take time to start.
  const [opened, loaded] = await Promise.allSettled([
    openOwnStore(openStore, config),
    import('@meup/gateway/server'),
  ])
  if (opened.status === 'rejected') throw opened.reason
  if (loaded.status === 'rejected') throw loaded.reason
  const { createGateway, combineAuthenticators, serve, tokenAuthenticator } = loaded.value
  const { observe, close: closeTracing } = await traceSpaces(logger)
  const files = tokenAuthenticator(tokens)
  const authenticator = combineAuthenticators([files, jwt])
  const spaces = getSpaceConfigs(config)
  const gateway = await createGateway({ spaces, store: opened.value, authenticator, logger, observe })
  let served: Served
  try {
    const modules = [async () => (await import('@meup/ag-ui')).agUi]
    const port = mayMove ? await choosePort(config, logger) : config.gateway.port
    served = await serve({ gateway, logger, modules, ...config.gateway, port, ...findPage(logger) })
  } catch (error) {
    await gateway.close()
    throw explainListenError(error, formatAddress(config.gateway))
  }
  const { url } = served
  let control: string | undefined
  const announce = (): void => {
    const people = current.spaces.map(({ config: { name, participants } }) => [
      name,
      listPeople(participants),
    ])
    writeGatewayFile(config.directory, {
      url,
      spaces: gateway.spaces,
      pid: process.pid,
      people: Object.fromEntries(people),
      ...omitUndefined({ control }),
    })
    writeNames(
      config.directory,
      current.spaces.flatMap(({ config: { participants } }) => Object.keys(participants)),
    )
  }
  announce()
  try {
    listRunning(config.directory)
  } catch (err) {
    logger.info({ err }, 'meup spaces does not list this gateway')
  }
  let stopWarmUp = (): void => {}
  return {
    url,
    spaces: gateway.spaces,
    get config() {
      return current
    },
    get tokens() {
      return tokens
    },
    get jwt() {
      return jwt.settings
    },
    async reload(next) {
      const problems: string[] = []
      tokens = readTokens(next, logger, (space, participant, error) => {
        problems.push(error.message)
        return tokens[space]?.[participant]
      })
      files.replace(tokens)
      try {
        await jwt.replace(next)
      } catch (error) {
        problems.push(formatError(error))
      }
      await gateway.reconfigure(getSpaceConfigs(next))
      current = next
      announce()
      return problems
    },
    isPresent: gateway.isPresent,
    findKick: gateway.findKick,
    setProgram: gateway.setProgram,
    endProgram: gateway.endProgram,
    isReplaced: gateway.isReplaced,
    announceControl(path) {
      control = path
      announce()
    },
    warmUp() {
      stopWarmUp = warmUpSafety()
    },
    async close() {
      stopWarmUp()
      removeGatewayFile(config.directory, process.pid)
      unlistRunning(config.directory)
      await served.close()
      await closeTracing()
    },
  }
}

/** Opens the log. If it is locked by this folder's gateway, throws an error that names it. */
async function openOwnStore(open: () => Promise<LogStore>, config: Config): Promise<LogStore> {
  try {
    return await open()
  } catch (error) {
    if ((error as { code?: string }).code === 'locked') await mustNotRun(config, { cause: error })
    throw error
  }
}

/** The configured port, or the next free one. */
async function choosePort(config: Config, logger: Logger): Promise<number> {
  const { host, port } = config.gateway
  if ((await tryToListen(host, port))?.code !== 'EADDRINUSE') return port
  await mustNotRun(config, { port })
  const free = await findFreePort(host, port + 1)
  if (free === undefined) return port
  logger.warn(
    {},
    `${formatAddress(config.gateway)}, where space.yaml has this gateway listen, is in use; it takes port ${free}`,
  )
  return free
}

/** Throws `Failure` if this folder's gateway is already running, on this port if one is given. */
async function mustNotRun(
  { directory }: Config,
  { port, cause }: { readonly port?: number; readonly cause?: unknown },
): Promise<void> {
  const running = await findGateway(directory)
  if (running === undefined || (port !== undefined && Number(new URL(running.url).port) !== port)) return
  const { url, pid } = running
  throw new Failure('already_running', { url, pid: String(pid) }, { cause })
}

function readTokens(
  { directory, spaces, several }: Config,
  logger: Logger,
  instead?: (space: string, participant: string, error: Error) => string | undefined,
): TokensBySpace {
  const tokens = spaces.map(({ config: { name, participants } }) => {
    const options: TokenOptions = {
      ...(several && { space: name }),
      ...(instead && { instead: (participant, error) => instead(name, participant, error) }),
      warn: (message) => logger.warn({}, message),
    }
    return [name, ensureTokens(directory, Object.keys(participants), options)]
  })
  return Object.fromEntries(tokens)
}

const getSpaceConfigs = ({ spaces }: Config) => spaces.map(({ config }) => config)

const listPeople = (participants: Config['spaces'][number]['config']['participants']): string[] =>
  Object.entries(participants)
    .filter(([, { kind }]) => kind === 'human')
    .map(([id]) => id)

/** Authenticates tokens of the issuer in `auth.jwt`; imports the verifier only if one is configured. */
class IssuerTokens implements Authenticator {
  readonly #logger: Logger
  #authenticator: JwtAuthenticator | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get settings(): JwtSettings | undefined {
    return this.#authenticator?.settings
  }

  async authenticate(space: string, token: string): Promise<Identity | undefined> {
    return this.#authenticator?.authenticate(space, token)
  }

  /** Switches to the issuer of this configuration. Rejects with `UsageError` if its key file has no valid keys. */
  async replace({ auth: { jwt } }: Config): Promise<void> {
    if (jwt === undefined) {
      this.#authenticator?.replace(undefined)
      return
    }
    const { jwtAuthenticator } = await import('@meup/gateway/jwt')
    this.#authenticator ??= jwtAuthenticator(undefined, { logger: this.#logger })
    try {
      this.#authenticator.replace(withKeys(jwt))
    } catch (error) {
      throw new UsageError('no_keys', { file: jwt.jwks, reason: getErrorMessage(error) })
    }
  }
}

const withKeys = (jwt: NonNullable<AuthSettings['jwt']>): JwtSettings =>
  isAddress(jwt.jwks) ? jwt : { ...jwt, jwks: JSON.parse(readFileSync(jwt.jwks, 'utf8')) }

/** The built observer page; without one, the gateway serves none. */
function findPage(logger: Logger): Pick<ServeOptions, 'page'> {
  if (existsSync(pageDirectory)) return { page: pageDirectory }
  logger.info({}, 'there is no page at /: it was not built; pnpm build does that')
  return {}
}

/** Pause between steps of about 2 ms, so that compiling takes a tenth of a core while agents and tool servers start. */
const PAUSE_MS = 20

let isWarm = false

/** Compiles the safety rules step by step, once per process. Returns a function that stops it. */
function warmUpSafety(): () => void {
  if (isWarm) return () => {}
  const steps = warmUp(compileSafety(defaultSafety))
  const step = (): void => {
    isWarm = steps.next().done === true
    if (!isWarm) next = setTimeout(step, PAUSE_MS)
  }
  let next = setTimeout(step, PAUSE_MS)
  return () => clearTimeout(next)
}
