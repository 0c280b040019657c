import { emitKeypressEvents, type Key } from 'node:readline'
import type { SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { colourStyle, onOneLine } from '@meup/folds'
import { exitCodes } from '../failure/exit-codes.js'
import { announceConnection, type ConnectionFlags, enterSpace, resolveTarget } from '../lib/connection.js'
import { type ProgramReports, readPrograms } from '../lib/control-client.js'
import { formatError, UsageError } from '../lib/exit.js'
import { getStdoutStyle, isAtTerminal } from '../lib/output.js'
import { promptRetry, retryPutOff } from '../lib/retry.js'
import { ActivityFold } from '../view/activity-fold.js'
import { explainAct } from '../why/explanation.js'
import { formatExplanation } from '../why/format-explanation.js'
import { readRecentWork, readWaiting } from './read-work.js'
import type { SpaceMonitor, Work } from './space-monitor.js'
import { renderTop } from './top-screen.js'

/** Redraw interval, and poll interval for programs. */
const [drawMs, programsMs] = [1000, 2000]
/** Milliseconds for which a notice is shown. */
const noticeMs = 5000
const keysLine = '↑↓ choose · p pause, resume · k kick · i interrupt · w why · q quit'

/** Switches to the alternate screen without a cursor; `begin` and `end` enclose a frame, drawn as one (DEC 2026). */
const [enter, leave] = ['\u001B[?1049h\u001B[?25l', '\u001B[?25h\u001B[?1049l']
const [begin, end] = ['\u001B[?2026h\u001B[H', '\u001B[J\u001B[?2026l']

/** Messages per second from which on the busiest participant stays selected, even when others become busier. */
const runawayRate = 1

/** `meup top`: shows how busy participants are, with keys that pause, kick or interrupt them. Resolves when the user leaves. */
export async function top(flags: ConnectionFlags): Promise<void> {
  if (!isAtTerminal()) throw new UsageError('no_terminal', { command: 'meup top', instead: 'meup ps' })
  const space = await enterSpace(flags)
  // Repeats nothing: it asks again every two seconds.
  const http = new HttpClient(resolveTarget(flags))
  const screen = new TopScreen(space, http)
  try {
    await screen.run()
  } finally {
    screen.close()
    space.close()
  }
}

class TopScreen {
  readonly #space: SpaceClient
  readonly #http: HttpClient
  readonly #activity = new ActivityFold()
  #monitor: SpaceMonitor | undefined
  #programs: ProgramReports = new Map()
  #waiting: ReadonlySet<string> = new Set()
  #selected: string | undefined
  /** Set once the user has selected a row, or a participant was busy: the selection then stays on that participant. */
  #isChosen = false
  #notice = { text: '', until: 0 }
  #connection = { isOpen: true }
  #page: readonly string[] | undefined
  /** The open question, and the action that `y` confirms. */
  #asked: { readonly question: string; act(): Promise<void> } | undefined
  readonly #timers: NodeJS.Timeout[] = []
  #leave: () => void = () => {}
  readonly #restore = (): void => {
    process.stdin.setRawMode(false)
    process.stdout.write(leave)
  }
  readonly #draw = (): void => this.draw()

  constructor(space: SpaceClient, http: HttpClient) {
    this.#space = space
    this.#http = http
  }

  async run(): Promise<void> {
    const space = this.#space
    this.#activity.reset(space.welcome)
    space.on('welcome', (welcome) => this.#activity.reset(welcome, welcome.resume.status === 'lost'))
    const early: Parameters<SpaceMonitor['apply']>[0][] = []
    space.on('envelope', (envelope) => {
      this.#activity.onEnvelope(envelope)
      if (this.#monitor === undefined) early.push(envelope)
      else this.#monitor.apply(envelope)
    })
    this.#connection = announceConnection(space, (line) => this.#notify(line))
    const left = new Promise<void>((resolve, reject) => {
      this.#leave = resolve
      space.on('closed', (error) => (error ? reject(error) : resolve()))
    })
    this.#open()
    const { head } = space.welcome.space
    const recent = retryPutOff(() => readRecentWork(this.#http, head + 1), promptRetry)
    const monitor = await Promise.race([recent, left])
    if (monitor === undefined) return
    for (const envelope of early) monitor.apply(envelope)
    this.#monitor = monitor
    this.draw()
    await left
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    process.stdin.removeAllListeners('keypress').pause()
    process.stdout.off('resize', this.#draw)
    process.off('exit', this.#restore)
    this.#restore()
  }

  draw(): void {
    const { columns = 80, rows = 24 } = process.stdout
    const work = this.#list()
    this.#select(work)
    const rate = work.reduce((sum, { messagesPerSecond }) => sum + messagesPerSecond, 0)
    const now = Date.now()
    const { url, space: id } = this.#http.target
    const lines = renderTop(
      {
        heading: `${id} · ${rate.toFixed(1)}/s · ${url}`,
        ...{ work, programs: this.#programs, selected: this.#selected },
        footer:
          this.#asked?.question ??
          (this.#notice.until > now
            ? this.#notice.text
            : this.#connection.isOpen
              ? keysLine
              : 'not connected; trying again'),
        ...(this.#page && { page: this.#page }),
      },
      {
        columns,
        rows,
        now,
        mark: (text) => (getStdoutStyle() === colourStyle ? `\u001B[7m${text}\u001B[0m` : text),
      },
    )
    process.stdout.write(`${begin}${lines.map((line) => `${line}\u001B[K`).join('\r\n')}${end}`)
  }

  #list(): Work[] {
    const { participants } = this.#space
    const doing = { thinking: this.#activity.thinkers(), waiting: this.#waiting }
    return this.#monitor?.list(participants, doing, this.#space.gatewayTime()) ?? []
  }

  #select(work: readonly Work[]): void {
    const isThere = work.some(({ id }) => id === this.#selected)
    if (!isThere || !this.#isChosen) this.#selected = work[0]?.id
    this.#isChosen ||= (work[0]?.messagesPerSecond ?? 0) >= runawayRate
  }

  #open(): void {
    process.stdout.write(enter)
    process.once('exit', this.#restore)
    emitKeypressEvents(process.stdin)
    process.stdin.setRawMode(true).resume()
    process.stdin.on('keypress', (text: string | undefined, key: Key) => this.#press(text, key))
    process.stdin.once('end', () => this.#leave())
    process.stdout.on('resize', this.#draw)
    const look = (): void => {
      this.#look().catch((error: unknown) => this.#notify(`✗ ${formatError(error)}`))
    }
    this.#timers.push(setInterval(this.#draw, drawMs), setInterval(look, programsMs))
    look()
  }

  async #look(): Promise<void> {
    const [programs, waiting] = await Promise.all([readPrograms(this.#http.target), readWaiting(this.#http)])
    this.#programs = programs
    this.#waiting = waiting
  }

  #press(text: string | undefined, key: Key): void {
    const name = `${key.ctrl ? 'ctrl+' : ''}${key.name ?? text ?? ''}`
    if (name === 'ctrl+c') process.exit(exitCodes.interrupted)
    if (this.#asked !== undefined) this.#answer(name)
    else if (this.#page !== undefined) this.#page = undefined
    else this.#command(name)
    this.draw()
  }

  #answer(name: string): void {
    const { act } = this.#asked ?? {}
    this.#asked = undefined
    if (name === 'y' && act !== undefined) this.#run(act)
    else this.#notify('not done')
  }

  #command(name: string): void {
    const work = this.#list()
    const at = work.findIndex(({ id }) => id === this.#selected)
    const selected = work[at]
    if (['q', 'escape', 'ctrl+d'].includes(name)) this.#leave()
    if (selected === undefined) return
    const move = { up: -1, down: 1, pageup: -10, pagedown: 10 }[name]
    if (move !== undefined) {
      this.#isChosen = true
      this.#selected = work[Math.min(Math.max(at + move, 0), work.length - 1)]?.id
    } else if (name === 'p') this.#run(() => this.#pause(selected))
    else if (name === 'i') this.#run(() => this.#interrupt(selected))
    else if (name === 'w') this.#run(() => this.#explain(selected))
    else if (name === 'k')
      this.#asked = {
        question: `kick ${onOneLine(selected.id)} until it is invited again? y/n`,
        act: async () => {
          await this.#space.kick(selected.id)
          this.#notify(`✓ ${onOneLine(selected.id)} is kicked; meup invite brings it back`)
        },
      }
  }

  #run(act: () => Promise<void>): void {
    act()
      .catch((error: unknown) => this.#notify(`✗ ${formatError(error)}`))
      .finally(this.#draw)
  }

  async #pause({ id, state }: Work): Promise<void> {
    const isPaused = state.name === 'paused'
    await (isPaused ? this.#space.resume([id]) : this.#space.pause([id]))
    this.#notify(isPaused ? `✓ ${onOneLine(id)} may go on` : `✓ ${onOneLine(id)} is paused; p lets it go on`)
  }

  async #interrupt({ id }: Work): Promise<void> {
    const runs = this.#space.runs.filter(({ owner }) => owner === id)
    for (const { context } of runs) await this.#space.interrupt(context)
    this.#notify(
      runs.length === 0
        ? `${onOneLine(id)} does not think at present`
        : `✓ ${onOneLine(id)} is asked to stop`,
    )
  }

  async #explain({ id, lastAct }: Work): Promise<void> {
    if (lastAct === undefined) return this.#notify(`${onOneLine(id)} has called and answered nothing lately`)
    const act = await this.#http.readEnvelope(lastAct)
    const lines = formatExplanation(await explainAct(this.#http, act), this.#http)
    this.#page = [...lines, '', `any key goes back · meup why ${lastAct}`]
  }

  #notify(text: string): void {
    this.#notice = { text: onOneLine(text), until: Date.now() + noticeMs }
  }
}
