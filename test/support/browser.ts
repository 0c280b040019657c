import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { alwaysInFront, browserFlags } from './browser-flags.js'

/** Calls a method of the Chrome DevTools Protocol, in a tab or in the browser. */
export type Call = <Result>(method: string, params?: object) => Promise<Result>

export interface Browser {
  /** Opens an empty tab. */
  openTab(): Promise<Call>
  /** Calls a method of the browser, rather than of a tab. */
  readonly ask: Call
  /** Listens to events of the browser. Returns a function that stops listening. */
  listen(received: (method: string, params: Readonly<Record<string, unknown>>) => void): () => void
  /** Errors in the pages of the browser, and violations of their content security policies. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

/** A tab with its own cookies and storage. */
export interface PrivateTab {
  readonly call: Call
  /** Errors in the tab, and violations of its content security policy. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

let shared: Promise<Pipe> | undefined

/** Opens a tab in the browser that all tests of this process share, because starting one takes longer than most tests. */
export async function openPrivateTab(chromium: string): Promise<PrivateTab> {
  shared ??= startShared(chromium)
  const pipe = await shared
  const { browserContextId } = await pipe.call<{ browserContextId: string }>(
    'Target.createBrowserContext',
    {},
  )
  const sessionId = await pipe.openTarget({ browserContextId, newWindow: true })
  // Makes the tab count as the one in front, even if other tabs are open.
  await pipe.call('Emulation.setFocusEmulationEnabled', { enabled: true }, sessionId)
  return {
    call: (method, params = {}) => pipe.call(method, params, sessionId),
    problems: pipe.problemsOf(sessionId),
    close: async () => void (await pipe.call('Target.disposeBrowserContext', { browserContextId })),
  }
}

/** Starts the shared browser. It ends with this process, when the pipe closes, and then removes its profile. */
async function startShared(chromium: string): Promise<Pipe> {
  const profile = mkdtempSync(join(tmpdir(), 'meup-browser-'))
  const args = [...browserFlags, ...alwaysInFront, '--remote-debugging-pipe', '--hide-scrollbars']
  const script = '"$@"; rm -rf "$0"'
  const browser = spawn('sh', ['-c', script, profile, chromium, ...args, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  browser.on('close', () => {
    shared = undefined
  })
  browser.unref()
  for (const stream of browser.stdio.slice(3)) (stream as Socket).unref()
  return new Pipe(browser)
}

/** Starts a headless browser. `profile`: path of an empty folder. */
export async function openBrowser(chromium: string, profile: string): Promise<Browser> {
  const args = [...browserFlags, '--remote-debugging-pipe', '--hide-scrollbars', `--user-data-dir=${profile}`]
  const browser = spawn(chromium, args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = new Promise((resolve) => browser.on('close', resolve))
  const pipe = new Pipe(browser)
  return {
    problems: pipe.problems,
    ask: (method, params = {}) => pipe.call(method, params),
    listen(received) {
      pipe.listeners.add(received)
      return () => pipe.listeners.delete(received)
    },
    async openTab() {
      const sessionId = await pipe.openTarget()
      return (method, params = {}) => pipe.call(method, params, sessionId)
    },
    async close() {
      // Kills the process group, because helper processes would still write to the profile.
      if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
      await ended
    },
  }
}

interface Told {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** The connection to a browser through a pipe: JSON messages, each ended by a zero byte. */
class Pipe {
  /** Errors and policy violations in all tabs. */
  readonly problems: string[] = []
  readonly listeners = new Set<(method: string, params: Readonly<Record<string, unknown>>) => void>()
  readonly #out: Writable
  /** Errors and policy violations by the protocol session of their tab. */
  readonly #problems = new Map<string | undefined, string[]>()
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  #text = ''
  #calls = 0

  constructor({ stdio }: ChildProcess) {
    this.#out = stdio[3] as Writable
    const input = stdio[4] as Readable
    input.setEncoding('utf8')
    input.on('data', (chunk: string) => this.#receive(chunk))
    this.#out.on('error', () => {}) // The browser is gone when the test is over.
  }

  call<Result>(method: string, params: object, sessionId?: string): Promise<Result> {
    const id = ++this.#calls
    this.#out.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (result) => resolve(result as Result), reject })
    })
  }

  /** Opens an empty tab. Returns its session. */
  async openTarget(more: object = {}): Promise<string> {
    const { targetId } = await this.call<{ targetId: string }>('Target.createTarget', {
      url: 'about:blank',
      ...more,
    })
    const asked = { targetId, flatten: true }
    return (await this.call<{ sessionId: string }>('Target.attachToTarget', asked)).sessionId
  }

  problemsOf(sessionId: string | undefined): string[] {
    const known = this.#problems.get(sessionId) ?? []
    this.#problems.set(sessionId, known)
    return known
  }

  #receive(chunk: string): void {
    const parts = (this.#text + chunk).split('\0')
    this.#text = parts.pop() ?? ''
    for (const part of parts) this.#take(JSON.parse(part) as Told)
  }

  #take({ id, sessionId, method, params, result, error }: Told): void {
    if (id === undefined) {
      for (const listener of this.listeners) listener(method ?? '', params ?? {})
      const problem =
        method === 'Runtime.exceptionThrown'
          ? JSON.stringify(params?.exceptionDetails)
          : method === 'Log.entryAdded'
            ? problemIn(params?.entry as LogEntry)
            : undefined
      if (problem !== undefined)
        for (const each of [this.problems, this.problemsOf(sessionId)]) each.push(problem)
      return
    }
    const waiter = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiter?.resolve(result)
    else waiter?.reject(new Error(error.message))
  }
}

interface LogEntry {
  readonly level: string
  readonly text: string
  readonly url?: string
}

/** Returns the problem that a log entry of the page reports. Failed requests while the gateway is away do not count. */
function problemIn({ level, text, url }: LogEntry): string | undefined {
  const isAway = /ERR_CONNECTION_(REFUSED|RESET)|status of 503|WebSocket connection/.test(text)
  return level === 'error' && !isAway ? `${text} ${url ?? ''}` : undefined
}
