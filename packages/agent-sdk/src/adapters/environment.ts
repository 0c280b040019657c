import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { traceEndpoint } from '@meup/folds'
import { freshId } from '@meup/protocol'
import { readCredential } from '../client/credential.js'
import type { DialRequest } from '../client/transport.js'
import { optionError } from './errors.js'

export interface ConnectOptions extends Partial<Omit<DialRequest, 'session'>> {
  /**
   * The session id of the program [MEUP-2.14]. Default: MEUP_SESSION, otherwise an id per process. `false` = none, for clients
   * that only read or send a single request.
   */
  readonly session?: string | false
  /** The participant whose token is read from `.meup/tokens`. */
  readonly as?: string
  /**
   * Reads earlier open proposals over HTTP, so that `proposals` contains them. Otherwise it contains only those received on
   * this connection. Cannot be combined with `after` or `tail`.
   */
  readonly openProposals?: boolean
  /** The folder where the search for `.meup` starts; it continues in parent folders. Default: the working directory. */
  readonly directory?: string
}

/**
 * Completes options from MEUP_URL, MEUP_SPACE, MEUP_TOKEN, MEUP_PARTICIPANT and MEUP_SESSION, then from the `.meup` folder of a
 * gateway on this machine (`gateway.json`, `tokens/<participant>`; the tokens are for that gateway only). Transcripts of models
 * are stored in that folder, otherwise in one in the working directory. Requests are traced if OTEL_EXPORTER_OTLP_ENDPOINT is
 * set.
 */
export function readEnvironment(options: ConnectOptions, env: NodeJS.ProcessEnv = process.env): DialRequest {
  const {
    as = env.MEUP_PARTICIPANT,
    directory = process.cwd(),
    openProposals: _,
    session: named,
    ...given
  } = options
  const folder = findFolder(directory)
  const running = folder === undefined ? undefined : readRunning(folder)
  const url = given.url ?? env.MEUP_URL ?? running?.url
  if (url === undefined) throw optionError('gateway', {})
  const isElsewhere = running !== undefined && !isSameHost(url, running.url)
  const space = given.space ?? env.MEUP_SPACE ?? (isElsewhere ? undefined : running?.spaces[0])
  if (space === undefined)
    throw isElsewhere
      ? optionError('spaceElsewhere', { url, running: running.url })
      : optionError('space', { url })
  const fromEnvironment = options.as === undefined ? env.MEUP_TOKEN : undefined
  const nearby = isElsewhere ? undefined : folder // Local tokens are only sent to the local gateway.
  const token = given.token ?? fromEnvironment ?? (nearby && readToken(nearby, space, as))
  const session = named ?? env.MEUP_SESSION ?? ownSession
  const tracing = given.tracing ?? traceEndpoint(env) !== undefined
  const transcripts = given.transcripts ?? join(folder ?? join(resolve(directory), '.meup'), 'transcripts')
  return {
    ...given,
    url,
    space,
    ...(session !== false && { session }),
    transcripts,
    ...(token !== undefined && { token: readCredential(token, 'token') }),
    ...(tracing && { tracing }),
  }
}

/** One session id for all connections of this process. */
const ownSession = freshId()

const isSameHost = (url: string, other: string): boolean =>
  URL.canParse(url) && new URL(url).host === new URL(other).host

/** Finds the `.meup` folder of a gateway. A folder with only an agent's transcripts does not count. */
function findFolder(directory: string): string | undefined {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const folder = join(at, '.meup')
    if (['gateway.json', 'tokens'].some((name) => existsSync(join(folder, name)))) return folder
    if (at === dirname(at)) return undefined
  }
}

function readRunning(folder: string): { url: string; spaces: string[] } | undefined {
  const file = join(folder, 'gateway.json')
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { url: string; spaces: string[] })
    : undefined
}

/** Reads the token of a participant. If the gateway has several spaces, `tokens` has a folder for each. */
function readToken(folder: string, space: string, as: string | undefined): string | undefined {
  const tokens = join(folder, 'tokens')
  const folderOfSpace = join(tokens, space)
  const own = statSync(folderOfSpace, { throwIfNoEntry: false })?.isDirectory() ? folderOfSpace : tokens
  if (as !== undefined) {
    const file = join(own, as)
    if (!existsSync(file)) throw optionError('token', { as, file })
    return readFileSync(file, 'utf8').trim()
  }
  const names = existsSync(own) ? readdirSync(own) : []
  if (names.length === 1 && names[0] !== undefined) return readFileSync(join(own, names[0]), 'utf8').trim()
  if (names.length === 0) return undefined
  throw optionError('participant', { known: names })
}
