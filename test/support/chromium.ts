import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { needing } from '../verifies.js'
import { browserFlags } from './browser-flags.js'
import { temporaryFolder } from './cli.js'

/**
 * Candidates for the browser. The headless shell comes first: it is the same browser without windows, and takes half the
 * processor time.
 */
const programs = [process.env.CHROMIUM_BIN, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** Wraps a test that needs a browser, and passes it the path of the browser. */
export const withChromium = needing('Chromium (Debian package chromium, or its path in CHROMIUM_BIN)', () =>
  programs.find((path) => path !== undefined && existsSync(path)),
)

/** Content security policy of the page: no `eval`, and no resources of other origins. */
const policy = "default-src 'none'; script-src 'self'; connect-src *"
const html = '<!doctype html><title>test</title><script type="module" src="/script.js"></script>'

export interface Page {
  /** Origin of the page. */
  readonly url: string
  /** The data that the script sends to `/result`. */
  readonly result: Promise<string>
}

/** Serves a page with one script, which sends its result to `/result`. */
export async function servePage(script: (origin: string) => Promise<string>): Promise<Page> {
  let notify = (_result: string): void => {}
  const result = new Promise<string>((resolve) => {
    notify = resolve
  })
  const server = createServer(async (request: IncomingMessage, response) => {
    if (request.url === '/result') notify(await text(request))
    const isScript = request.url === '/script.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.setHeader('content-security-policy', policy)
    response.end(isScript ? await script(url) : html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, result }
}

/** Opens a page in a browser, until the test is over. */
export function openPage(chromium: string, { url }: Page): void {
  const args = [...browserFlags, `--user-data-dir=${temporaryFolder()}`, url]
  const browser = spawn(chromium, args, { stdio: 'ignore', detached: true })
  const ended = new Promise((resolve) => browser.on('close', resolve))
  onTestFinished(async () => {
    // Kills the process group, because helper processes would still write to the profile.
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
    await ended
  })
}
