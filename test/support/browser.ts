import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { browserFlags } from './browser-flags.js'

/** Asks something of a tab, by the protocol of Chromium's developer tools. */
export type Call = <Result>(method: string, params?: object) => Promise<Result>

export interface Browser {
  /** An empty page. */
  openTab(): Promise<Call>
  /** Asks something of the browser itself. */
  readonly ask: Call
  /** Listens to what it tells. Gives what ends that. */
  listen(received: (method: string, params: Readonly<Record<string, unknown>>) => void): () => void
  /** What went wrong in its pages: errors, and what their policies have refused. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

/** A browser that nobody sees. `profile`: an empty folder. */
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
      const { targetId } = await pipe.call<{ targetId: string }>('Target.createTarget', {
        url: 'about:blank',
      })
      const { sessionId } = await pipe.call<{ sessionId: string }>('Target.attachToTarget', {
        targetId,
        flatten: true,
      })
      return (method, params = {}) => pipe.call(method, params, sessionId)
    },
    async close() {
      // Its helpers write to the profile until they are gone too.
      if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
      await ended
    },
  }
}

interface Told {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** The line to a browser: JSON, each message ended by a zero byte. */
class Pipe {
  readonly problems: string[] = []
  readonly listeners = new Set<(method: string, params: Readonly<Record<string, unknown>>) => void>()
  readonly #out: Writable
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

  #receive(chunk: string): void {
    const parts = (this.#text + chunk).split('\0')
    this.#text = parts.pop() ?? ''
    for (const part of parts) this.#take(JSON.parse(part) as Told)
  }

  #take({ id, method, params, result, error }: Told): void {
    if (id === undefined) {
      for (const listener of this.listeners) listener(method ?? '', params ?? {})
      if (method === 'Runtime.exceptionThrown') this.problems.push(JSON.stringify(params?.exceptionDetails))
      if (method === 'Log.entryAdded')
        this.#note(params?.entry as { level: string; text: string; url?: string })
      return
    }
    const waiter = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiter?.resolve(result)
    else waiter?.reject(new Error(error.message))
  }

  /** That the gateway is away for a while is no mistake of the page. */
  #note({ level, text, url }: { level: string; text: string; url?: string }): void {
    if (
      level === 'error' &&
      !/ERR_CONNECTION_(REFUSED|RESET)|status of 503|WebSocket connection/.test(text)
    ) {
      this.problems.push(`${text} ${url ?? ''}`)
    }
  }
}
