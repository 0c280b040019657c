import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What opens a file as its user would, by the system. */
const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  linux: 'xdg-open',
  win32: 'explorer',
}

/**
 * Has the browser go to an address that nobody else may see. It is not handed over on a command line, which every user of
 * the machine could read, but in a file of this folder's `.meup`. Whether there was a way.
 */
export async function openBrowser(url: string, folder: string): Promise<boolean> {
  const opener = openers[process.platform]
  const directory = join(folder, '.meup')
  if (opener === undefined || !existsSync(directory)) return false
  const file = join(directory, 'open.html')
  rmSync(file, { force: true }) // A new file has the mode that it is made with.
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

const redirection = (url: string): string => `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">
<title>meup</title>
`
