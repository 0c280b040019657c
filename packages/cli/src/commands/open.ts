import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildGatewayUrl } from '@meup/agent-sdk/http'
import type { Command } from 'commander'
import type { JsonOf } from '../json-outputs.js'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { print, printJson, printNotice } from '../lib/output.js'

/** `meup open`: opens the space in the browser, signed in. */
export function addOpen(program: Command): void {
  withConnection(program.command('open'), 'print one JSON object')
    .description('open the page in your browser, signed in: by a link that works once, within a minute')
    .option('--no-browser', 'only print the link')
    .action(open)
}

interface OpenFlags extends ConnectionFlags {
  readonly browser: boolean
}

/** Requests a one-time sign-in code from the gateway, then opens or prints the address that contains it. */
async function open({ browser, json, ...flags }: OpenFlags): Promise<void> {
  const http = createHttpClient(flags)
  const { code, expiresAt } = await http.createLink()
  const url = `${buildGatewayUrl(http.target.url, '')}#/open/${code}`
  if (json) {
    printJson<JsonOf<'open'>>({ url, expiresAt })
    return
  }
  print(url)
  const isOpened = browser && process.stdout.isTTY === true && (await openBrowser(url, process.cwd()))
  printNotice(`${isOpened ? 'your browser opens it; it' : 'it'} works once, until ${expiresAt}`)
}

/** Commands that open a file in the default application. */
const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  linux: 'xdg-open',
  win32: 'explorer',
}

/**
 * Opens a secret address in the browser, by way of a file in `.meup`: other users of the machine can read command lines.
 * Returns whether a browser was found.
 */
async function openBrowser(url: string, folder: string): Promise<boolean> {
  const opener = openers[process.platform]
  const directory = join(folder, '.meup')
  if (opener === undefined || !hasDisplay() || !existsSync(directory)) return false
  const file = join(directory, 'open.html')
  rmSync(file, { force: true }) // `mode` applies only to a new file.
  writeFileSync(file, redirection(url), { mode: 0o600, flag: 'wx' })
  const child = spawn(opener, [pathToFileURL(file).href], { detached: true, stdio: 'ignore' })
  return new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Whether a browser can be seen: on Linux it needs a display, except one that BROWSER names. */
const hasDisplay = (): boolean =>
  process.platform !== 'linux' || ['DISPLAY', 'WAYLAND_DISPLAY', 'BROWSER'].some((name) => process.env[name])

const redirection = (url: string): string => `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">
<title>meup</title>
`
