import type { AnyEnvelope } from '@meup/protocol'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import type { JoinFlags } from '../join/join.js'
import { announceConnection, createHttpClient, enterSpace, withConnection } from '../lib/connection.js'
import { parseCount } from '../lib/options.js'
import { createPrinter } from '../render/conversation.js'
import { type FilterFlags, readFilter, type ViewFlags } from '../view/view.js'

type Flags = Omit<WatchFlags, 'from' | 'tail'> & { readonly from?: string; readonly tail?: string }

/** `meup watch`: prints envelopes as they arrive, optionally from a position in the log. */
export function addWatch(program: Command): void {
  withConnection(program.command('watch'))
    .description('print what happens in a space')
    .option('--from <seq>', 'begin at this envelope; 1 = the first')
    .option('--tail <count>', 'begin with the last so many')
    .option('--no-follow', 'end when the log has been printed')
    .option('--context <path>', 'only what happens in this context and below it')
    .option('--agent <participant...>', 'only what these say')
    .option('--kind <kind...>', 'only envelopes of these kinds')
    .option('--reasoning <detail>', 'full, boundaries (no thoughts), or none')
    .option('--verbose', 'say as well what went wrong when Ctrl+T was pressed')
    .action(async ({ from, tail, ...flags }: Flags) => {
      await watch({
        ...flags,
        ...(from !== undefined && { from: parseCount(from, '--from') }),
        ...(tail !== undefined && { tail: parseCount(tail, '--tail') }),
      })
    })
}

interface WatchFlags extends ViewFlags, FilterFlags {
  /** First seq. */
  readonly from?: number
  /** Number of latest envelopes to begin with. */
  readonly tail?: number
  readonly follow: boolean
}

const watch = (flags: WatchFlags): Promise<void> => (flags.follow ? follow(flags) : printLog(flags))

async function follow(flags: WatchFlags): Promise<void> {
  const { openView } = await import('../view/conversation-view.js')
  const { from, tail } = flags
  const filter = readFilter(flags)
  const { subscription } = filter
  const space = await enterSpace(
    flags,
    from !== undefined ? { after: from - 1 } : tail !== undefined ? { tail } : {},
  )
  const view = openView(space, flags, { echoes: false, filter })
  announceConnection(space, (line) => view.notify(line))
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

/** Prints the log over HTTP, without appearing as present. */
async function printLog(flags: WatchFlags): Promise<void> {
  const { from, tail, json } = flags
  const { query } = readFilter(flags)
  const show = createPrinter(json)
  const http = createHttpClient(flags)
  if (from === undefined && tail !== undefined) {
    const last: AnyEnvelope[] = []
    for await (const envelope of http.readLog({ ...query, order: 'desc' }))
      if (last.push(envelope) === tail) break
    for (const envelope of last.reverse()) show(envelope)
  } else {
    for await (const envelope of http.readLog({ ...query, after: (from ?? 1) - 1 })) show(envelope)
  }
}

/** `meup join`: an interactive conversation. Its implementation is loaded when it runs. */
export function addJoin(program: Command): void {
  withConnection(program.command('join'))
    .description('enter a space, talk and listen; type /help there')
    .option('--to <participant...>', 'say it to these alone')
    .option('--reasoning', 'after each turn, why its tools were called, in full')
    .option('--screen-reader', 'sentences alone, one below the other: nothing is drawn, no signs')
    .option('--verbose', 'say as well what went wrong when Ctrl+T was pressed')
    .addHelpText(
      'after',
      '\nCtrl+T thoughts · Ctrl+O tool output · Ctrl+P what waits · Esc interrupt · Ctrl+D leave',
    )
    .action(async (flags: JoinFlags) => (await import('../join/join.js')).join(flags))
}
