import { type ImportedRow, importLog } from '@meup/gateway'
import { READ_TARGETED, SpaceName } from '@meup/protocol'
import { UsageError } from '../exit.js'
import { print, printJson, tell } from '../output.js'
import type { Extent, Item } from './recorded.js'

const legalName = new RegExp(SpaceName.pattern ?? '')

/** Makes a space of a recording, in a database. Rejects where envelopes are missing, and where the space has some already. */
export async function copyInto(
  path: string,
  items: AsyncIterable<Item>,
  extent: Extent,
  { name: space, json }: { readonly name?: string; readonly json?: boolean },
): Promise<void> {
  const lack = lackOf(extent)
  if (lack !== undefined) throw new Error(`${lack}; nothing was written`)
  if (space === undefined) throw new UsageError('nothing says what the space was called: add --name <space>')
  if (!legalName.test(space)) throw new UsageError(`${space} cannot be a space: use a-z, 0-9 and -`)
  const { head: seq, proof } = extent
  const proven = proof && { epoch: proof.epoch, head: { seq, hash: proof.hash } }
  const log = await importLog({ path, space, rows: rowsOf(items), ...proven })
  if (proof === undefined) {
    tell('plain envelopes prove nothing: this is a log of its own, with a new epoch and other hashes')
  }
  if (json) return void printJson({ space, path, ...log })
  print(`${log.head} envelopes are in the space ${space} of ${path}`)
  print(`epoch ${log.epoch}`)
  print(`head ${log.head}:${log.hash}`)
}

/** Why no space can be made of it. */
function lackOf({ first, gap, withheld, proof }: Extent): string | undefined {
  const advice = `a participant with the capability ${READ_TARGETED} can export all of them, while no run is hidden`
  if (proof !== undefined && first > 1) {
    return `this begins at seq ${first}: what came before was pruned, and a space needs its beginning`
  }
  if (withheld > 0) {
    return `a space needs all envelopes, and ${withheld} of these were withheld from whoever exported them: ${advice}`
  }
  return gap === undefined ? undefined : `a space needs all envelopes, and seq ${gap} is missing: ${advice}`
}

async function* rowsOf(items: AsyncIterable<Item>): AsyncGenerator<ImportedRow, void> {
  for await (const item of items) if ('row' in item && item.row !== undefined) yield item.row
}
