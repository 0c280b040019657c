import { existsSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionError } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { describeState, formatDuration } from '@meup/folds'
import { inspectLog } from '@meup/gateway'
import type { ParticipantDetails } from '@meup/protocol'
import { getErrorMessage } from '@meup/protocol'
import { loadConfig } from '../config/load.js'
import { logPath } from '../config/storage.js'
import { Failure } from '../failure/failure.js'
import type { JsonOf } from '../json-outputs.js'
import { formatBytes, formatTable, print, printJson, printNotice } from '../lib/output.js'
import { findGateway, type GatewayFile } from '../lib/running-gateway.js'
import { formatCount } from '../top/work-table.js'
import { resolveAddress } from './settings.js'

export interface StatsFlags {
  readonly config: string
  readonly url?: string
  readonly json?: boolean
}

/** Statistics of a running space. */
interface SpaceStats {
  readonly space: string
  readonly isReady: boolean
  /** Seq of the last envelope. */
  readonly head: number
  /** Envelopes per second: current, and average since the gateway started. */
  readonly perSecond: { readonly now: number; readonly average: number }
  /** Average milliseconds per batch written to the log. */
  readonly commitMs: number
  readonly present: number
  readonly connections: number
  readonly unsentBytes: number
  readonly openContexts: number
  readonly openProposals: number
  /** Envelopes in the log that are not assigned to turns yet; `waiting`: envelopes that are not in the log yet. */
  readonly unindexed: number
  readonly waiting: number
  /** Erased envelopes whose bytes have not been removed yet. */
  readonly unerased: number
  /** Tokens since the gateway started, as reported by agents. */
  readonly tokens: { readonly input: number; readonly output: number }
  /** Refused envelopes since the gateway started, by error code. */
  readonly refused: Readonly<Record<string, number>>
  /** The participants, without capabilities; `null` if they could not be read. */
  readonly participants: readonly ParticipantStats[] | null
}

type ParticipantStats = Omit<ParticipantDetails, 'capabilities'>

interface GatewayStats {
  readonly url: string
  readonly uptimeMs: number
  readonly memoryBytes: number
  readonly spaces: readonly SpaceStats[]
}

/** Sizes and contents of a log's files, read without a gateway. */
interface FileStats {
  readonly files: readonly { readonly file: string; readonly bytes: number }[]
  readonly spaces: readonly {
    readonly space: string
    readonly head: number
    readonly newest: string | null
  }[]
}

/** `meup stats`: statistics of this folder's gateway and its spaces; without a gateway, of the log files. */
export async function stats({ config: path, url, json }: StatsFlags): Promise<void> {
  const file = resolve(path)
  const directory = dirname(file)
  const running = url === undefined ? await findGateway(directory) : undefined
  const address = url ?? running?.url
  const [gateway, log] = await Promise.all([
    address === undefined ? undefined : readGateway(address, running, directory),
    url === undefined ? readFiles(file) : undefined,
  ])
  if (gateway === undefined && log === undefined) throw new Failure('no_gateway', { folder: process.cwd() })
  if (json) return void printJson<JsonOf<'stats'>>({ gateway: gateway ?? null, log: log ?? null })
  if (gateway === undefined) printNotice('no gateway runs here; this is what the log has')
  for (const line of [...gatewayLines(gateway), ...fileLines(log, gateway === undefined)]) print(line)
}

/** Interval between two samples, from which the current rate is computed. */
const sampleMs = 250
const requestMs = 5000

/**
 * Reads the statistics of a gateway. `running`: content of this folder's `.meup/gateway.json`; absent if `url` is another
 * gateway.
 */
async function readGateway(
  url: string,
  running: GatewayFile | undefined,
  directory: string,
): Promise<GatewayStats> {
  const first = await fetchMetrics(url)
  const start = performance.now()
  const [participants] = await Promise.all([
    Promise.all(first.spaces.map((space) => readParticipants({ url, space }, running, directory))),
    pause(sampleMs),
  ])
  const last = await fetchMetrics(url)
  const seconds = (performance.now() - start) / 1000
  const uptimeMs = Date.now() - last.sum('process_start_time_seconds') * 1000
  const spaces = first.spaces.map((space, at): SpaceStats => {
    const sum = (name: string): number => last.sum(`meup_${name}`, space)
    const head = sum('log_head')
    return {
      space,
      isReady: sum('space_ready') === 1,
      head,
      perSecond: {
        now: (head - first.sum('meup_log_head', space)) / seconds,
        average: sum('envelopes_accepted_total') / (uptimeMs / 1000),
      },
      commitMs: (sum('commit_seconds_sum') / Math.max(sum('commit_seconds_count'), 1)) * 1000,
      present: sum('participants_present'),
      connections: sum('connections'),
      unsentBytes: sum('unsent_bytes'),
      openContexts: sum('open_contexts'),
      openProposals: sum('open_proposals'),
      unindexed: sum('unindexed_envelopes'),
      waiting: sum('waiting_envelopes'),
      unerased: sum('unerased_envelopes'),
      tokens: { input: 0, output: 0, ...last.by('direction', 'meup_reported_tokens_total', space) },
      refused: last.by('code', 'meup_envelopes_refused_total', space),
      participants: participants[at] ?? null,
    }
  })
  return { url, uptimeMs, memoryBytes: last.sum('process_resident_memory_bytes'), spaces }
}

/** Reads participants over HTTP, because metrics contain no names. `null` if that fails, with a notice on stderr. */
async function readParticipants(
  target: { readonly url: string; readonly space: string },
  running: GatewayFile | undefined,
  directory: string,
): Promise<ParticipantStats[] | null> {
  const { token } = resolveAddress(target, process.env, running, directory)
  const access = token.value === undefined ? target : { ...target, token: token.value }
  try {
    const { participants } = await new HttpClient(access, { timeoutMs: requestMs }).readParticipants()
    return participants.map(({ capabilities: _, ...each }) => each)
  } catch (error) {
    const what = `${target.space}: who is paused, kicked or fails is not known`
    printNotice(`${what}: ${getErrorMessage(error)}`)
    return null
  }
}

async function fetchMetrics(url: string): Promise<Metrics> {
  try {
    const response = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(requestMs) })
    if (response.ok) return new Metrics(await response.text())
    throw new Error(`it answers ${response.status}`)
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message : message
    throw new ConnectionError('unreachable', `the metrics of ${url} cannot be read: ${reason}`, {
      details: { url },
    })
  }
}

async function readFiles(config: string): Promise<FileStats | undefined> {
  if (!existsSync(config)) return undefined
  const path = logPath(loadConfig(config).storage)
  if (path === undefined) return { files: [], spaces: [] }
  const files = ['', '-wal', '.index.db', '.index.db-wal'].flatMap((end) => {
    const found = statSync(`${path}${end}`, { throwIfNoEntry: false })
    return found === undefined ? [] : [{ file: `${path}${end}`, bytes: found.size }]
  })
  const spaces = inspectLog(path)?.spaces ?? []
  return { files, spaces: spaces.map(({ name, head, newest }) => ({ space: name, head, newest })) }
}

function gatewayLines(gateway: GatewayStats | undefined): string[] {
  if (gateway === undefined) return []
  const { url, uptimeMs, memoryBytes, spaces } = gateway
  const first = `${url} · up ${formatDuration(uptimeMs)} · ${formatBytes(memoryBytes)} of memory`
  return [first, ...spaces.flatMap((space) => ['', ...spaceLines(space)])]
}

function spaceLines(stats: SpaceStats): string[] {
  const { space, isReady, head, perSecond, commitMs, tokens, refused } = stats
  const { present, connections, unsentBytes, openContexts, openProposals, unindexed, waiting, unerased } =
    stats
  const codes = Object.entries(refused).map(([code, count]) => `${code} ${count}`)
  const rows: (readonly [string, string])[] = [
    [
      'envelopes',
      `${head} · ${formatRate(perSecond.now)}/s now, ${formatRate(perSecond.average)}/s on average`,
    ],
    ['log', `${commitMs.toFixed(1)} ms a batch · ${waiting} waiting · ${unindexed} not indexed`],
    ['participants', `${present} present · ${connections} connections · ${formatBytes(unsentBytes)} unsent`],
    ...participantRows(stats.participants ?? []),
    ['open', `${openContexts} contexts · ${openProposals} proposals`],
    ['tokens', `${formatCount(tokens.input)} in, ${formatCount(tokens.output)} out, as agents report them`],
    ['refused', codes.join(', ') || 'nothing'],
    ...(unerased > 0 ? [['erased', `${unerased} whose bytes are still there`] as const] : []),
  ]
  return [
    isReady ? space : `${space} takes no envelopes at present`,
    ...formatTable(rows.map((row) => ['', ...row])),
  ]
}

/** Maximum number of participants in a special state that are listed one by one. */
const maxListed = 20

/** Rows of participants in a special state: neither present nor away. */
function participantRows(participants: readonly ParticipantStats[]): (readonly [string, string])[] {
  const states = participants.flatMap((participant) => {
    const { name, text } = describeState(participant, Date.now())
    return name === 'here' || name === 'away' ? [] : [`${participant.id}: ${text}`]
  })
  const more = states.length - maxListed
  const rest = more > 0 ? [`… ${more} more: meup caps ls`] : []
  return [...states.slice(0, maxListed), ...rest].map((line) => ['', line] as const)
}

const formatRate = (rate: number): string => (rate < 10 ? rate.toFixed(1) : rate.toFixed(0))

function fileLines(log: FileStats | undefined, isAlone: boolean): string[] {
  if (log === undefined || log.files.length === 0) return []
  const shown = (file: string): string => {
    const path = relative(process.cwd(), file)
    return path.startsWith('..') ? file : path
  }
  const files = formatTable(log.files.map(({ file, bytes }) => [shown(file), formatBytes(bytes)]))
  const spaces = log.spaces.map(({ space, head, newest }) => [space, `${head} envelopes`, newest ?? ''])
  return [...(isAlone ? [...formatTable(spaces), ''] : ['']), ...files]
}

/** A gateway's `/metrics`, parsed from the Prometheus text format. */
export class Metrics {
  readonly #values: readonly { readonly name: string; readonly labels: string; readonly value: number }[]

  constructor(text: string) {
    const lines = text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)
    this.#values = [...lines].map(([, name = '', labels = '', value]) => ({
      name,
      labels,
      value: Number(value),
    }))
  }

  /** Names of the spaces, in the gateway's order. */
  get spaces(): string[] {
    const ready = this.#values.filter(({ name }) => name === 'meup_space_ready')
    return ready.map(({ labels }) => readLabel(labels, 'space'))
  }

  /** Sum over all series of a metric, optionally of one space. */
  sum(name: string, space?: string): number {
    return this.#find(name, space).reduce((sum, { value }) => sum + value, 0)
  }

  /** Values of a space's metric by one of its labels, largest first. */
  by(label: string, name: string, space: string): Record<string, number> {
    const found = this.#find(name, space).map(
      ({ labels, value }) => [readLabel(labels, label), value] as const,
    )
    return Object.fromEntries(found.sort(([, one], [, other]) => other - one))
  }

  #find(name: string, space: string | undefined) {
    return this.#values.filter(
      (each) => each.name === name && (space === undefined || readLabel(each.labels, 'space') === space),
    )
  }
}

/** Reads a label. Spaces, classes and codes contain no characters that Prometheus escapes. */
const readLabel = (labels: string, name: string): string =>
  new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
