import { writeFileSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { type Call, openPrivateTab } from './browser.js'

/** A page in a browser, which a test reads and controls as a person would. */
export interface DrivenPage {
  goTo(url: string): Promise<void>
  /** Runs a script before those of every page that is opened from now on. */
  prepare(script: string): Promise<void>
  reload(): Promise<void>
  /** Evaluates an expression in the page; waits if the value is a promise. */
  evaluate<Value>(expression: string): Promise<Value>
  /** Returns the visible text of the page. */
  text(): Promise<string>
  /** Waits until the page shows this text. */
  shows(text: string | RegExp): Promise<void>
  /** Waits until the page does not show this text. */
  hides(text: string | RegExp): Promise<void>
  /** Clicks the first element of this selector that has this text in its label or content. */
  click(selector: string, label?: string): Promise<void>
  /** Types into the field of this selector. */
  type(selector: string, text: string): Promise<void>
  key(key: string, modifiers?: { readonly isCtrl?: boolean }): Promise<void>
  /** Chooses a value in the select element of this selector. */
  choose(selector: string, value: string): Promise<void>
  /** Emulates a user preference, such as `prefers-contrast`: `more`. */
  prefer(feature: string, value: string): Promise<void>
  /** Moves the pointer to this position, in pixels. */
  point(x: number, y: number): Promise<void>
  /** Returns the accessibility tree in reading order. */
  readAccessibility(): Promise<readonly AccessibleNode[]>
  /** Returns how many pages the page has when it is printed. */
  countPrintedPages(): Promise<number>
  /** Saves a picture of the page; `undefined` = does nothing. */
  screenshot(file: string | undefined): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** Errors in the page, and violations of its content security policy. */
  readonly problems: readonly string[]
}

interface AccessibleNode {
  readonly role: string
  readonly name: string
}

interface RawAccessibleNode {
  readonly ignored: boolean
  readonly role?: { readonly value: string }
  readonly name?: { readonly value: string }
}

const within = { timeout: 30_000, interval: 50 }

/** Opens an empty page, until the test is over. */
export async function drivePage(chromium: string): Promise<DrivenPage> {
  const { call, problems, close } = await openPrivateTab(chromium)
  onTestFinished(close)
  await Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable'].map((method) => call(method)))
  const page = driven(call, problems)
  await page.resize(1280, 800)
  return page
}

function driven(call: Call, problems: readonly string[]): DrivenPage {
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const asked = { expression, awaitPromise: true, returnByValue: true }
    const received = await call<{ result: { value: Value }; exceptionDetails?: object }>(
      'Runtime.evaluate',
      asked,
    )
    if (received.exceptionDetails !== undefined) throw new Error(JSON.stringify(received.exceptionDetails))
    return received.result.value
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
    prepare: async (source) => void (await call('Page.addScriptToEvaluateOnNewDocument', { source })),
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
    async choose(selector, value) {
      await expect.poll(() => evaluate(`${find(selector, '')} !== undefined`), within).toBe(true)
      await evaluate(`{ const list = ${find(selector, '')}
        list.value = ${JSON.stringify(value)}
        list.dispatchEvent(new Event('change', { bubbles: true })) }`)
    },
    prefer: async (name, value) =>
      void (await call('Emulation.setEmulatedMedia', { features: [{ name, value }] })),
    async key(key, { isCtrl = false } = {}) {
      const isText = key.length === 1 && !isCtrl
      await press({
        key,
        modifiers: isCtrl ? 2 : 0,
        ...(isText && { text: key }),
        ...(key === 'Enter' && { text: '\r', windowsVirtualKeyCode: 13 }),
        ...(key === 'End' && { code: 'End', windowsVirtualKeyCode: 35 }),
      })
    },
    point: async (x, y) => void (await call('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y })),
    async readAccessibility() {
      const { nodes } = await call<{ nodes: RawAccessibleNode[] }>('Accessibility.getFullAXTree')
      return nodes
        .filter(({ ignored }) => !ignored)
        .map(({ role, name }) => ({ role: role?.value ?? '', name: name?.value.trim() ?? '' }))
    },
    async countPrintedPages() {
      const { data } = await call<{ data: string }>('Page.printToPDF', { printBackground: true })
      return (
        Buffer.from(data, 'base64')
          .toString('latin1')
          .match(/\/Type\s*\/Page\b/g)?.length ?? 0
      )
    },
    async screenshot(file) {
      if (file === undefined) return
      const { data } = await call<{ data: string }>('Page.captureScreenshot', { format: 'png' })
      writeFileSync(file, Buffer.from(data, 'base64'))
    },
    async resize(width, height) {
      await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
    },
  }
}
