import type { JsonOf } from '../json-outputs.js'
import { formatTable, print, printJson, printNotice } from '../lib/output.js'
import { findRunning } from '../lib/running-spaces.js'

/** `meup spaces`: lists the running spaces of this user on this machine, with their folders. */
export async function listLocalSpaces({ json }: { readonly json?: boolean }): Promise<void> {
  const running = await findRunning()
  if (json) return void printJson<JsonOf<'spaces'>>(running)
  if (running.length === 0)
    return void printNotice('no space of yours runs on this machine; meup up starts one')
  const rows = running.map(({ spaces, url, pid, directory }) => [
    spaces.join(', '),
    url,
    `pid ${pid}`,
    directory,
  ])
  for (const line of formatTable(rows)) print(line)
}
