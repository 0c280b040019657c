import { setTimeout as pause } from 'node:timers/promises'
import {
  type AuditStep,
  ConnectionError,
  type ContextNode,
  type FreePath,
  HttpClient,
} from '@meup/agent-sdk/http'
import { type Erasure, getErasure, Kind } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import { type ConnectionFlags, resolveTarget } from '../lib/connection.js'
import { formatError, invalidValue, UsageError } from '../lib/exit.js'
import { printJson, printNotice } from '../lib/output.js'
import { isPutOff, retryPutOff } from '../lib/retry.js'
import { type Added, AuditFile, type RunningTurn } from './audit-file.js'

export interface SqliteFlags extends ConnectionFlags {
  readonly to?: string
  readonly follow?: boolean
  /** Days, as typed on the command line. */
  readonly keepDays?: string
}

/** Poll interval, and retry interval while the gateway is away. */
const [lookMs, awayMs] = [1000, 5000]
/** Minimum interval between prunings with `--follow`. */
const pruneMs = 3_600_000
/** Running turns whose state is refreshed per poll. */
const maxRunningTurns = 20
const dayMs = 86_400_000

/** `meup audit export --format sqlite`: adds turns and steps that the file lacks. */
export async function exportSqlite({ to, follow, keepDays, ...flags }: SqliteFlags): Promise<void> {
  if (to === undefined) {
    throw new UsageError('option_needed', { option: '--format sqlite', needed: '--to <file>' })
  }
  const days = keepDays === undefined ? undefined : readDays(keepDays)
  const http = new HttpClient(resolveTarget(flags), { retry: retryPutOff })
  const { epoch } = await http.readParticipants()
  const file = await AuditFile.open(to, { sessionId: epoch, space: http.target.space })
  const report = reporter(to, epoch, flags.json)
  if (follow) endOnSignal(file)
  try {
    const audit = new AuditExport(http, file, epoch, days)
    if (follow) await audit.follow(report)
    else report(await audit.readAll(), audit.prune())
  } finally {
    file.close()
  }
}

type Report = (added: Added, pruned: number) => void

/** Exports the audit of one log into its file. */
class AuditExport {
  readonly #http: HttpClient
  readonly #file: AuditFile
  readonly #epoch: string
  readonly #keepDays: number | undefined
  #hidden: ReadonlyMap<string, string> = new Map()
  /** Seq up to which the log has been searched for records of erased envelopes. */
  #recordsRead = 0
  /** Id of the running turn that was refreshed last; the next poll continues after it. */
  #lastAsked = ''
  #prunedAt = 0

  constructor(http: HttpClient, file: AuditFile, epoch: string, keepDays: number | undefined) {
    this.#http = http
    this.#file = file
    this.#epoch = epoch
    this.#keepDays = keepDays
  }

  /** Reads the whole audit, since older steps may have become readable. */
  async readAll(): Promise<Added> {
    this.#hidden = await readHiddenRuns(this.#http)
    for await (const steps of readSteps(this.#http, this.#since)) this.#file.stage(steps)
    return this.#write()
  }

  /** Prunes steps older than `--keep-days`, at most hourly. Returns the number of removed steps. */
  prune(now = Date.now()): number {
    if (this.#keepDays === undefined || now - this.#prunedAt < pruneMs) return 0
    this.#prunedAt = now
    return this.#file.log.prune(this.#keepDays, now)
  }

  /**
   * Exports everything, then polls for new steps until the process ends or the log is replaced. Retries while the gateway is
   * away.
   */
  async follow(report: Report): Promise<never> {
    /** Head of the log at the last poll. */
    let last: number | undefined
    let isReported = false
    for (;;) {
      try {
        const place = await this.#http.readParticipants()
        const isNew = place.epoch !== this.#epoch || place.head !== last
        const read = () => (last === undefined ? this.readAll() : this.#readNew())
        report(isNew ? await read() : { turns: 0, steps: 0 }, this.prune())
        last = place.head
        isReported = false
        await pause(lookMs)
      } catch (error) {
        if (!isAway(error)) throw error
        if (!isReported) printNotice(`${formatError(error)}; trying again`)
        isReported = true
        await pause(awayMs)
      }
    }
  }

  /**
   * Reads pages of steps, newest first, until a page has no new steps; if thoughts of runs became visible since the last poll,
   * at least back to the start of the oldest of these runs.
   */
  async #readNew(): Promise<Added> {
    const before = this.#hidden
    const hidden = await readHiddenRuns(this.#http)
    const shown = [...before].filter(([context]) => !hidden.has(context)).map(([, startedAt]) => startedAt)
    const [from = '~'] = shown.sort()
    for await (const steps of readSteps(this.#http, this.#since)) {
      const isNew = this.#file.stage(steps) > 0
      if (!isNew && (steps.at(-1)?.created_at ?? '') < from) break
    }
    const running = this.#file.runningTurns(this.#lastAsked, maxRunningTurns)
    for (const turn of running) this.#file.stage(await readTurn(this.#http, turn))
    this.#lastAsked = running.length < maxRunningTurns ? '' : (running.at(-1)?.id ?? '')
    const added = await this.#write()
    this.#hidden = hidden
    return added
  }

  /** Writes the staged steps. Throws if the gateway now has another log: its steps must not enter this file. */
  async #write(): Promise<Added> {
    const { epoch, head } = await this.#http.readParticipants()
    if (epoch !== this.#epoch)
      throw new Error(
        `the log of ${this.#http.target.space} was replaced by ${epoch}; export it to another file`,
      )
    const added = await this.#file.write()
    await this.#reportErased(head)
    return added
  }

  /** Warns if the file has steps about envelopes that were erased since the export. */
  async #reportErased(head: number): Promise<void> {
    const erasures: Erasure[] = []
    const records = { kind: Kind.systemSpace, after: this.#recordsRead, before: head + 1 }
    for await (const envelope of this.#http.readLog(records)) {
      const erasure = getErasure(envelope)
      if (erasure !== undefined) erasures.push(erasure)
    }
    this.#recordsRead = head
    const count = this.#file.countErased(erasures)
    if (count === 0) return
    const advice = 'remove the file, and export to a new one'
    printNotice(`✗ the file has ${formatCount(count, 'step')} of what was erased since: ${advice}`)
  }

  /** Start of the export: older steps are outside `--keep-days` or were pruned. */
  get #since(): string | undefined {
    const { prunedBefore } = this.#file.log
    if (this.#keepDays === undefined) return prunedBefore
    const kept = new Date(Date.now() - this.#keepDays * dayMs).toISOString()
    return prunedBefore === undefined || prunedBefore < kept ? kept : prunedBefore
  }
}

/** Returns a function that prints progress: the first call always, later calls only if something changed. */
function reporter(file: string, sessionId: string, json: boolean | undefined): Report {
  let isFirst = true
  return ({ turns, steps }, pruned) => {
    const isWorthIt = isFirst || turns > 0 || steps > 0 || pruned > 0
    isFirst = false
    if (!isWorthIt) return
    if (json)
      printJson<JsonOf<'audit export --format sqlite'>>({ file, session_id: sessionId, turns, steps, pruned })
    else {
      const removed = pruned > 0 ? `; ${formatCount(pruned, 'old step')} removed` : ''
      printNotice(`${file}: ${formatCount(steps, 'step')} and ${formatCount(turns, 'turn')} added${removed}`)
    }
  }
}

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Closes the file and exits on a signal; transactions are synchronous, so none is interrupted. */
function endOnSignal(file: AuditFile): void {
  const end = (): void => {
    file.close()
    process.exit(exitCodes.ok)
  }
  process.once('SIGINT', end).once('SIGTERM', end)
}

function readDays(text: string): number {
  const days = Number(text)
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text) || days <= 0) throw invalidValue('--keep-days', 'days', text)
  return days
}

/** Steps per request. */
const pageSize = 250

/** Yields pages of steps created since `since`, newest first. */
async function* readSteps(
  http: HttpClient,
  since: string | undefined,
): AsyncGenerator<readonly AuditStep[], void> {
  for await (const { steps } of http.readAuditPages({ limit: pageSize, since }))
    if (steps.length > 0) yield steps
}

/** Reads the last step of a turn, which carries the turn's current state. */
async function readTurn(
  http: HttpClient,
  { thread_id: thread, seq }: RunningTurn,
): Promise<readonly AuditStep[]> {
  const { value } = await http.readAuditPages({ thread, before: seq + 1, limit: 1 }).next()
  return value?.steps ?? []
}

/** Runs whose thoughts are currently hidden from this participant, with the start time of each. */
async function readHiddenRuns(http: HttpClient): Promise<ReadonlyMap<string, string>> {
  const { contexts } = await http.readContexts()
  const hidden = new Map<string, string>()
  const look = (node: ContextNode | FreePath): void => {
    const { context, state, startedAt, children } = node
    if (state === 'open' && !node.reasoningVisible) hidden.set(context, startedAt)
    for (const child of children) look(child)
  }
  for (const each of contexts) look(each)
  return hidden
}

/** Whether the gateway may answer later: it is unreachable or overloaded. */
const isAway = (error: unknown): boolean =>
  isPutOff(error) || (error instanceof ConnectionError && error.code !== 'not_configured')
