import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, Call } from '../../test/support/browser.js'
import { theEnd } from './chatter.js'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly tid: number
  readonly pid: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** Tasks of the page's main thread, measured in milliseconds of processor time. */
interface Traced {
  readonly longest: number
  readonly busy: number
}

/** Code in the page that records when the first line is shown. */
const noting = `new MutationObserver((_, observer) => {
  if (document.querySelector('article') === null) return
  observer.disconnect()
  requestAnimationFrame(() => setTimeout(() => { globalThis.firstLine = performance.now() }))
}).observe(document, { childList: true, subtree: true })`

/** Code in the page that samples the age of the latest message, by the time in its text. */
const sampling = `globalThis.behind = []
setInterval(() => {
  const sent = [...document.querySelectorAll('article')].map((row) => Number(/tick (\\d+)/.exec(row.textContent)?.[1] ?? 0))
  const latest = Math.max(...sent)
  const now = Date.now()
  if (latest > 0 && !document.body.innerText.includes('${theEnd}')) {
    globalThis.behind.push(now - latest)
  }
}, 250)`

/** The page in a browser tab, with measurements of its cost. */
export class Tab {
  readonly #browser: Browser
  readonly #call: Call

  private constructor(browser: Browser, call: Call) {
    this.#browser = browser
    this.#call = call
  }

  /** Opens a tab and signs in, without showing the space yet. */
  static async open(
    browser: Browser,
    { url, space, token }: { url: string; space: string; token: string },
  ): Promise<Tab> {
    const call = await browser.openTab()
    for (const method of ['Page.enable', 'Runtime.enable', 'Log.enable', 'Performance.enable'])
      await call(method)
    await call('Emulation.setDeviceMetricsOverride', {
      ...{ width: 1280, height: 800, deviceScaleFactor: 1, mobile: false },
    })
    await call('Page.addScriptToEvaluateOnNewDocument', { source: noting })
    const tab = new Tab(browser, call)
    await call('Page.navigate', { url: `${url}/` })
    await tab.#until(`document.querySelector('input[name=token]') !== null`)
    await tab.#evaluate(`sessionStorage.setItem('meup-token:${space}', '${token}')`)
    await tab.#evaluate(`location.hash = '#/s/${space}'`)
    await call('Page.navigate', { url: 'about:blank' })
    await call('Page.navigate', { url: `${url}/#/s/${space}` })
    return tab
  }

  /** Measures the milliseconds from opening the address to the first painted line. */
  async firstLine(): Promise<number> {
    await this.#until('globalThis.firstLine !== undefined')
    return this.#evaluate('globalThis.firstLine')
  }

  /** Measures the milliseconds from opening the address until the whole log can be scrolled. */
  async loaded(envelopes: number): Promise<number> {
    const rows = `Number(document.querySelector('article')?.getAttribute('aria-setsize'))`
    await this.#until(`${rows} > ${envelopes * 0.29}`)
    return this.#evaluate('performance.now()')
  }

  /** Returns the bytes of the heap after garbage collection. */
  async heap(): Promise<number> {
    await this.#call('HeapProfiler.collectGarbage')
    const { metrics } = await this.#call<{ metrics: { name: string; value: number }[] }>(
      'Performance.getMetrics',
    )
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN
  }

  /** Returns the pid of the renderer process. */
  async pid(): Promise<number> {
    const { processInfo } = await this.#browser.ask<{
      processInfo: { type: string; id: number; cpuTime: number }[]
    }>('SystemInfo.getProcessInfo')
    const renderers = processInfo.filter(({ type }) => type === 'renderer')
    return renderers.sort((one, other) => other.cpuTime - one.cpuTime)[0]?.id ?? 0
  }

  async turnTo(view: string): Promise<void> {
    await this.#evaluate(`document.getElementById('view-${view}').click()`)
    await this.#settled()
  }

  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp']) {
      await this.#call('Input.dispatchKeyEvent', { type, key, ...(type === 'keyDown' && { text: key }) })
    }
    await this.#settled()
  }

  /** Clicks an element, and waits until the whole page reflects it. */
  async choose(selector: string): Promise<void> {
    await this.#evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`)
    await this.#caughtUp()
  }

  /** Measures the milliseconds from typing a word to the first hits in the whole log. */
  async search(text: string): Promise<number> {
    await this.press('/')
    await this.#evaluate(`document.querySelector('input[name=query]').focus()`)
    const began = performance.now()
    await this.#call('Input.insertText', { text })
    await this.#until(`document.querySelector('.hits button') !== null`)
    const spent = performance.now() - began
    await this.#evaluate('document.activeElement.blur()')
    await this.#caughtUp()
    return spent
  }

  /** Moves the time slider to a position in the log, from 0 to 1. */
  async scrub(part: number): Promise<void> {
    await this.#evaluate(`{
      const slider = document.querySelector('.scrubber input')
      slider.value = Math.round(slider.max * ${part})
      slider.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await this.#settled()
    await this.#until(`!document.querySelector('.moment')?.textContent.includes('%')`)
    await this.#caughtUp()
  }

  /** Scrolls a long way up and down as with a wheel, then jumps to some positions. */
  async scroll(): Promise<void> {
    const wheel = (deltaY: number): Promise<unknown> =>
      this.#call('Input.dispatchMouseEvent', { type: 'mouseWheel', x: 600, y: 400, deltaX: 0, deltaY })
    for (const by of [-600, 600]) for (let turn = 0; turn < 60; turn++) await wheel(by)
    for (const part of [0.5, 0, 0.9, 1]) {
      await this.#evaluate(`{
        const box = document.querySelector('.scroller')
        box.scrollTop = box.scrollHeight * ${part}
      }`)
      await this.#settled()
    }
  }

  /**
   * Measures by how many milliseconds the page lags behind while `work` sends. `behind`: sorted samples; `last`: the lag at the
   * end. `work` returns the time of the last message.
   */
  async follow(work: () => Promise<number>): Promise<{ behind: readonly number[]; last: number }> {
    await this.press('.')
    await this.#evaluate(sampling)
    const ended = await work()
    await this.#until(`document.body.innerText.includes('${theEnd}')`)
    return {
      behind: await this.#evaluate('globalThis.behind.sort((one, other) => one - other)'),
      last: Date.now() - ended,
    }
  }

  async trace(work: () => Promise<void>): Promise<Traced> {
    const events: TraceEvent[] = []
    const stop = this.#browser.listen((method, params) => {
      if (method === 'Tracing.dataCollected') events.push(...(params.value as TraceEvent[]))
    })
    await this.#browser.ask('Tracing.start', {
      traceConfig: { includedCategories: ['toplevel', '__metadata'], recordMode: 'recordAsMuchAsPossible' },
      transferMode: 'ReportEvents',
    })
    await work()
    const complete = new Promise<void>((resolve) => {
      const done = this.#browser.listen((method) => {
        if (method !== 'Tracing.tracingComplete') return
        done()
        resolve()
      })
    })
    await this.#browser.ask('Tracing.end')
    await complete
    stop()
    return tasksOf(events, await this.pid())
  }

  /** Resolves when the page has drawn a selection: the feed is no longer `aria-busy`, and two frames have passed since. */
  async #caughtUp(): Promise<void> {
    await this.#settled()
    await this.#until(`document.querySelector('[role=feed]')?.getAttribute('aria-busy') !== 'true'`)
    await this.#settled()
  }

  /** Waits for two frames. */
  async #settled(): Promise<void> {
    await this.#evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))',
    )
  }

  async #until(condition: string): Promise<void> {
    const end = performance.now() + 120_000
    while (!(await this.#evaluate<boolean>(condition).catch(() => false))) {
      if (performance.now() > end) throw new Error(`it never came to this: ${condition}`)
      await wait(20)
    }
  }

  async #evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.#call<{
      result: { value: Value }
      exceptionDetails?: object
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return result.value
  }
}

function tasksOf(events: readonly TraceEvent[], renderer: number): Traced {
  const main = events.find(
    ({ ph, name, args, pid }) =>
      ph === 'M' && name === 'thread_name' && args?.name === 'CrRendererMain' && pid === renderer,
  )
  if (main === undefined) throw new Error('the page has no thread in what was traced')
  const tasks = events
    .filter(
      ({ tid, pid, name, tdur }) => tid === main.tid && pid === main.pid && name.endsWith('RunTask') && tdur,
    )
    .map(({ tdur = 0 }) => tdur / 1000)
  return { longest: Math.max(0, ...tasks), busy: tasks.reduce((sum, each) => sum + each, 0) }
}
