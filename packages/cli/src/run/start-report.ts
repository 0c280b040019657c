import { formatDuration } from '@meup/folds'
import { addAdvice, omitUndefined } from '@meup/protocol'
import { formatClock } from '../lib/logger.js'
import { print, printNotice } from '../lib/output.js'
import { describeJoined, describeLate, formatList, type ProgramName } from './describe-program.js'
import type { ProgramEvent } from './keep-running.js'

interface StartReportOptions {
  /** Whether to print JSON events on stdout, instead of lines on stderr. */
  readonly json: boolean
  /** Required programs by label, with the milliseconds that each has to join. */
  readonly required: ReadonlyMap<string, number>
}

/**
 * Reports which programs start and join: those of the first start together, once each has joined, failed or is late; later ones
 * one by one.
 */
export class StartReport {
  readonly #options: StartReportOptions
  readonly #labels: readonly string[]
  /** Programs of the first start that have neither joined nor failed, and are not late. */
  readonly #pending: Set<string>
  /** Programs that have not started yet; `#failed`: programs that failed to start. */
  readonly #starting: Set<string>
  readonly #failed = new Set<string>()
  /** Unreported programs that have joined, with the time that each took; `#late`: unreported programs that are late. */
  #joined = new Map<string, number>()
  #late: ProgramName[] = []
  readonly #waiting: RequiredPrograms

  constructor(labels: readonly string[], options: StartReportOptions) {
    this.#labels = labels
    this.#options = options
    this.#pending = new Set(labels)
    this.#starting = new Set(labels)
    this.#waiting = new RequiredPrograms(options.required)
  }

  /** Resolves when every required program has joined. Rejects with the cause if the first start of one fails. */
  get required(): Promise<void> {
    return this.#waiting.joined
  }

  begin(): void {
    const { json } = this.#options
    if (json) event('starting', { participants: this.#labels })
    else if (this.#labels.length > 0) printNotice(`starting ${formatList(this.#labels)}`)
    this.#reportStarted()
    if (json && this.#labels.length === 0) event('ready', { participants: [], waitedMs: 0 })
  }

  readonly onEvent = (name: ProgramName, programEvent: ProgramEvent): void => {
    const { label } = name
    const { type } = programEvent
    const printed = this.#options.json && toJsonEvent(name, programEvent, this.#pending.has(label))
    if (printed) event(...printed)
    if ((type === 'ended' || type === 'kicked') && this.#starting.has(label)) this.#failed.add(label)
    if (type !== 'starting' && type !== 'late') this.#onStarted(label)
    this.#waiting.onEvent(name, programEvent)
    if (type === 'joined') this.#joined.set(label, programEvent.waitedMs)
    if (type === 'late') this.#late.push(name)
    if (type !== 'starting' && type !== 'started') this.#pending.delete(label)
    if (this.#pending.size === 0) this.#report()
  }

  close(): void {
    this.#waiting.close()
  }

  #onStarted(label: string): void {
    if (this.#starting.delete(label)) this.#reportStarted()
  }

  #reportStarted(): void {
    if (this.#starting.size > 0 || !this.#options.json) return
    event('started', { participants: this.#labels.filter((label) => !this.#failed.has(label)) })
  }

  #report(): void {
    const [joined, late] = [this.#joined, this.#late]
    this.#joined = new Map()
    this.#late = []
    if (joined.size > 0) {
      const waitedMs = Math.max(...joined.values())
      const labels = [...joined.keys()].sort()
      if (this.#options.json) event('ready', { ...stamp(), participants: labels, waitedMs })
      else printLine(describeJoined(labels, waitedMs))
    }
    if (late.length > 0 && !this.#options.json) printLine(`! ${describeLate(late)}`)
  }
}

/** Waits for the programs that must join: if one of them does not, `meup up` ends. */
class RequiredPrograms {
  readonly #open: Set<string>
  readonly joined: Promise<void>
  #settle: (error?: Error) => void = () => {}
  readonly #timers: NodeJS.Timeout[]

  constructor(required: ReadonlyMap<string, number>) {
    this.#open = new Set(required.keys())
    this.joined = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error))
    })
    this.joined.catch(() => {}) // Avoids an unhandled rejection; the caller awaits `joined` later.
    this.#timers = [...required].map(([label, ms]) => setTimeout(() => this.#onTimeout(label, ms), ms))
    this.#settleIfDone()
  }

  onEvent({ label }: ProgramName, event: ProgramEvent): void {
    if (!this.#open.has(label)) return
    if (event.type === 'joined') {
      this.#open.delete(label)
      this.#settleIfDone()
    } else if (event.type === 'ended') {
      const { isStart, reason, remedy } = event.ending
      const what = isStart ? `${label}: ${reason}` : `${label} ended: ${reason}`
      this.#settle(new Error(remedy === undefined ? what : addAdvice(what, remedy)))
    } else if (event.type === 'kicked') {
      this.#settle(new Error(`${label} cannot join: ${event.kick.by} has kicked it`))
    }
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #onTimeout(label: string, ms: number): void {
    if (this.#open.has(label)) this.#settle(new Error(`${label} has not joined within ${formatDuration(ms)}`))
  }

  #settleIfDone(): void {
    if (this.#open.size > 0) return
    this.close()
    this.#settle()
  }
}

const printLine = (text: string): void => void printNotice(`${formatClock(Date.now())}  ${text}`)

const stamp = () => ({ time: new Date().toISOString() })

/**
 * Name and fields of a program's JSON event; `undefined` if it is not reported individually. `isFirst`: the program belongs to
 * the first start, which `starting` has announced.
 */
function toJsonEvent(
  { space, participant, label }: ProgramName,
  happened: ProgramEvent,
  isFirst: boolean,
): readonly [name: string, fields: object] | undefined {
  const about = { ...stamp(), space, participant }
  switch (happened.type) {
    case 'starting':
      if (happened.cause !== 'start') return ['restarting', { ...about, cause: happened.cause }]
      return isFirst ? undefined : ['starting', { participants: [label] }]
    case 'late':
      return ['late', { ...about, waitedMs: happened.waitedMs }]
    case 'ended': {
      const { ending, failures, next } = happened
      const { failed, reason } = ending
      const then = next.tryMs === undefined ? { resting: true } : { nextTryMs: next.tryMs }
      return [
        failed ? 'failed' : 'ended',
        { ...about, reason, ...(failures && { count: failures.count }), ...then },
      ]
    }
    case 'kicked': {
      const { by, reason, until } = happened.kick
      const end = until === undefined ? {} : { until: new Date(until).toISOString() }
      return ['kicked', { ...about, by, ...omitUndefined({ reason }), ...end, resting: true }]
    }
    default:
      return undefined // `ready` reports joined programs together.
  }
}

export const event = (name: string, fields: object): void =>
  void print(JSON.stringify({ event: name, ...fields }))
