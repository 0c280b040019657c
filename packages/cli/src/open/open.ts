import { type ConnectionFlags, destination } from '../connection.js'
import { print, tell } from '../output.js'
import { addressOf, post } from '../reading.js'
import { openBrowser } from './browser.js'

export interface OpenFlags extends ConnectionFlags {
  readonly browser: boolean
}

/** `meup open`: has the gateway make a one-time code, and opens the page with it, or prints where that is. */
export async function open({ browser, json, ...flags }: OpenFlags): Promise<void> {
  const at = destination(flags)
  const { code, expiresAt } = await post<{ code: string; expiresAt: string }>(at, 'links')
  const url = `${addressOf(at.url, '')}#/open/${code}`
  if (json) {
    print(JSON.stringify({ url, expiresAt }))
    return
  }
  print(url)
  const isOpened = browser && process.stdout.isTTY === true && (await openBrowser(url, process.cwd()))
  tell(`${isOpened ? 'your browser opens it; it' : 'it'} works once, until ${expiresAt}`)
}
