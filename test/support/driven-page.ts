import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { browserFlags } from './chromium.js'
import { temporaryFolder } from './cli.js'

/** A page in a browser that a test looks at and works with, as a person would. */
export interface DrivenPage {
  goTo(url: string): Promise<void>
  reload(): Promise<void>
  /** What an expression in the page comes to, or its promise. */
  evaluate<Value>(expression: string): Promise<Value>
  /** What the page shows, as text. */
  text(): Promise<string>
  /** Waits until the page shows this text. */
  shows(text: string | RegExp): Promise<void>
  /** Waits until it does not. */
  hides(text: string | RegExp): Promise<void>
  /** Presses the first element of this selector that has this text in its label or content. */
  click(selector: string, label?: string): Promise<void>
  /** Writes into the field of this selector. */
  type(selector: string, text: string): Promise<void>
  key(key: string): Promise<void>
  screenshot(file: string): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** What went wrong in the page: errors, and what its policy has refused. */
  readonly problems: readonly string[]
}

const within = { timeout: 15_000, interval: 50 }

/** Opens an empty page until the test is over. */
export async function drivePage(chromium: string): Promise<DrivenPage> {
  const args = [
    ...browserFlags,
    '--remote-debugging-pipe',
    '--hide-scrollbars',
    `--user-data-dir=${temporaryFolder()}`,
  ]
  const browser = spawn(chromium, args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = new Promise((resolve) => browser.on('close', resolve))
  onTestFinished(async () => {
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
    await ended
  })
  const pipe = new Pipe(browser)
  const { targetId } = await pipe.call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await pipe.call<{ sessionId: string }>('Target.attachToTarget', {
    targetId,
    flatten: true,
  })
  const call = <Result>(method: string, params: object = {}): Promise<Result> =>
    pipe.call(method, params, sessionId)
  await Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable'].map((method) => call(method)))
  return driven(call, pipe.problems)
}

type Call = <Result>(method: string, params?: object) => Promise<Result>

function driven(call: Call, problems: readonly string[]): DrivenPage {
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const asked = { expression, awaitPromise: true, returnByValue: true }
    const told = await call<{ result: { value: Value }; exceptionDetails?: object }>(
      'Runtime.evaluate',
      asked,
    )
    if (told.exceptionDetails !== undefined) throw new Error(JSON.stringify(told.exceptionDetails))
    return told.result.value
  }
  const text = (): Promise<string> => evaluate('document.body?.innerText ?? ""')
  const find = (
    selector: string,
    label: string,
  ): string => `[...document.querySelectorAll(${JSON.stringify(selector)})].find(
    (each) => ((each.getAttribute('aria-label') ?? '') + each.textContent).includes(${JSON.stringify(label)}) && !each.disabled)`
  const press = async (event: object): Promise<void> => {
    await call('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
    await call('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
  }
  const focus = async (selector: string): Promise<void> => {
    const found = find(selector, '')
    await expect.poll(() => evaluate(`${found} !== undefined`), within).toBe(true)
    await evaluate(`${found}.focus()`)
  }
  return {
    problems,
    evaluate,
    text,
    goTo: async (url) => void (await call('Page.navigate', { url })),
    reload: async () => void (await call('Page.reload')),
    shows: async (expected) => void (await expect.poll(text, within).toMatch(expected)),
    hides: async (expected) => void (await expect.poll(text, within).not.toMatch(expected)),
    async click(selector, label = '') {
      const found = find(selector, label)
      await expect
        .poll(() => evaluate(`${found} !== undefined`), { ...within, message: `${selector} ${label}` })
        .toBe(true)
      await evaluate(`${found}.click()`)
    },
    async type(selector, written) {
      await focus(selector)
      await call('Input.insertText', { text: written })
    },
    async key(key) {
      const isText = key.length === 1
      await press({
        key,
        ...(isText && { text: key }),
        ...(key === 'Enter' && { text: '\r', windowsVirtualKeyCode: 13 }),
      })
    },
    async screenshot(file) {
      const { data } = await call<{ data: string }>('Page.captureScreenshot', { format: 'png' })
      writeFileSync(file, Buffer.from(data, 'base64'))
    },
    async resize(width, height) {
      await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
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
    if (level === 'error' && !/ERR_CONNECTION_REFUSED|WebSocket connection/.test(text)) {
      this.problems.push(`${text} ${url ?? ''}`)
    }
  }
}
