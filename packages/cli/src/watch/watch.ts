import type { AnyEnvelope } from '@meup/protocol'
import { destination, enter } from '../connection.js'
import { exitCodes } from '../exit.js'
import { printer } from '../output.js'
import { readLog } from '../reading.js'
import { openView } from '../view/open-view.js'
import type { ViewFlags } from '../view/view.js'
import { type FilterFlags, readFilter } from './filter.js'

export interface WatchFlags extends ViewFlags, FilterFlags {
  /** First seq. */
  readonly from?: number
  /** So many of the last ones. */
  readonly tail?: number
  readonly follow: boolean
}

/** `meup watch`: prints what happens, from a place in the log if asked, and goes on. */
export const watch = (flags: WatchFlags): Promise<void> => (flags.follow ? follow(flags) : printLog(flags))

async function follow(flags: WatchFlags): Promise<void> {
  const { from, tail } = flags
  const filter = readFilter(flags)
  const { subscription } = filter
  const space = await enter(
    flags,
    from !== undefined ? { after: from - 1 } : tail !== undefined ? { tail } : {},
  )
  const view = openView(space, flags, { echoes: false, filter })
  space.on('reconnecting', (inMs, reason) =>
    view.tell(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
  )
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  try {
    const envelopes = space.envelopes()
    if (subscription !== undefined) await space.subscribe(subscription)
    for await (const envelope of envelopes) view.show(envelope)
  } finally {
    view.close()
    space.close()
  }
}

/** What the log has; nobody sees whoever reads it come and go. */
async function printLog(flags: WatchFlags): Promise<void> {
  const { from, tail, json } = flags
  const { query } = readFilter(flags)
  const show = printer(json)
  const at = destination(flags)
  if (from === undefined && tail !== undefined) {
    const last: AnyEnvelope[] = []
    for await (const envelope of readLog(at, query, 'desc')) if (last.push(envelope) === tail) break
    for (const envelope of last.reverse()) show(envelope)
  } else {
    const after = `${(from ?? 1) - 1}`
    for await (const envelope of readLog(at, { ...query, after })) show(envelope)
  }
}
