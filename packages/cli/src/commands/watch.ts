import type { HttpClient } from '@meup/agent-sdk/http'
import { Bounded } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind, omitUndefined, ProtocolError } from '@meup/protocol'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import { announceConnection, createHttpClient, enterSpace, withConnection } from '../lib/connection.js'
import { formatError, UsageError } from '../lib/exit.js'
import { checkNames } from '../lib/known-names.js'
import { collectNames, parseCount, parseSeq } from '../lib/options.js'
import { printNotice } from '../lib/output.js'
import { readPeriod } from '../lib/times.js'
import { createPrinter } from '../render/conversation.js'
import { type FilterFlags, readFilter, type ViewFlags } from '../view/view.js'

type Flags = Omit<WatchFlags, 'from' | 'tail'> & {
  readonly from?: string
  readonly since?: string
  readonly tail?: string
}

/** `meup watch`: prints envelopes as they arrive, optionally starting earlier in the log. */
export function addWatch(program: Command): void {
  withConnection(program.command('watch'))
    .description('print what happens in a space')
    .option('--from <seq>', 'begin at this envelope; 1 = the first')
    .option('--since <time>', 'begin then, such as tuesday, 2026-01-02 or 1h')
    .option('--tail <count>', 'begin with this number of the last events')
    .option('--time', 'before each event its time, with the offset of this machine')
    .option('--seq', 'before each event its seq')
    .option('--no-follow', 'end when the log has been printed')
    .option('--context <path>', 'only what happens in this context and below it')
    .option('--agent <names>', 'only what these say: a name, or several with commas', collectNames)
    .option('--kind <kinds>', 'only envelopes of these kinds: one, or several with commas', collectNames)
    .option('--reasoning <detail>', 'full, summary (how much was thought), boundaries (no thoughts), or none')
    .option('--verbose', 'also print why Ctrl+T failed')
    .action(async ({ from, since, tail, ...flags }: Flags) => {
      const [option, other] = Object.entries({ '--from': from, '--since': since, '--tail': tail }).flatMap(
        ([name, value]) => (value === undefined ? [] : [name]),
      )
      if (option !== undefined && other !== undefined)
        throw new UsageError('option_conflict', { option, other })
      const { since: time } = readPeriod(omitUndefined({ since }))
      await watch({
        ...flags,
        ...(from !== undefined && { from: parseSeq(from, '--from') }),
        ...(time !== undefined && { from: await findSeqAt(createHttpClient(flags), time) }),
        ...(tail !== undefined && { tail: parseCount(tail, '--tail') }),
      })
    })
}

interface WatchFlags extends ViewFlags, FilterFlags {
  /** The first seq to print. */
  readonly from?: number
  /** Number of latest envelopes to start with. */
  readonly tail?: number
  readonly follow: boolean
}

async function watch(flags: WatchFlags): Promise<void> {
  readFilter(flags) // Throws for a wrong filter before anything is requested.
  await checkNames(createHttpClient(flags), { from: flags.agent, kind: flags.kind })
  await (flags.follow ? follow(flags) : printLog(flags))
}

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
    const calls = new EarlierCalls(createHttpClient(flags))
    for await (const envelope of envelopes) {
      for (const call of await calls.find(envelope)) view.learn(call)
      view.show(envelope)
    }
  } finally {
    view.close()
    space.close()
  }
}

/** Reads the calls that printed results belong to, if the printed part of the log begins after these calls. */
class EarlierCalls {
  readonly #http: HttpClient
  readonly #known = new Bounded<true>(maxCalls)

  constructor(http: HttpClient) {
    this.#http = http
  }

  /** Returns the calls that a result answers and that were not printed yet; skips pruned and unreadable ones. */
  async find(envelope: AnyEnvelope): Promise<AnyEnvelope[]> {
    this.#known.set(envelope.id, true)
    const unknown =
      envelope.kind === Kind.mcpResponse ? correlations(envelope).filter((id) => !this.#known.get(id)) : []
    for (const id of unknown) this.#known.set(id, true)
    const found = await Promise.all(unknown.map((id) => this.#read(id)))
    return found.filter((each) => each !== undefined)
  }

  async #read(id: string): Promise<AnyEnvelope | undefined> {
    try {
      return await this.#http.readEnvelope(id)
    } catch (error) {
      // The call was pruned, or this participant may not read it.
      const isHidden = error instanceof ProtocolError && error.code === 'not_found'
      if (!isHidden) printNotice(`… what a response answers could not be read: ${formatError(error)}`)
      return undefined
    }
  }
}

/** Maximum number of calls that are remembered as already printed. */
const maxCalls = 1000

/** Binary search for the first readable envelope at or after this time; the seq after the head if there is none. */
async function findSeqAt(http: HttpClient, ms: number): Promise<number> {
  let [from, to] = [1, (await http.readLogPage({ limit: 1, order: 'desc' })).head + 1]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const { value } = await http.readLog({ after: middle - 1, before: to, limit: 1 }).next()
    if (value === undefined || Date.parse(value.ts) >= ms) to = middle
    else from = (value.seq ?? middle) + 1
  }
  return from
}

/** Prints the log over HTTP, so that this participant does not appear as present. */
async function printLog(flags: WatchFlags): Promise<void> {
  const { from, tail, json } = flags
  const { query } = readFilter(flags)
  const http = createHttpClient(flags)
  const calls = new EarlierCalls(http)
  const { print: printEnvelope, learn } = createPrinter(json, flags)
  const show = async (envelope: AnyEnvelope): Promise<void> => {
    for (const call of json ? [] : await calls.find(envelope)) learn(call)
    printEnvelope(envelope)
  }
  if (from === undefined && tail !== undefined) {
    const last: AnyEnvelope[] = []
    for await (const envelope of http.readLog({ ...query, order: 'desc' }))
      if (last.push(envelope) === tail) break
    for (const envelope of last.reverse()) await show(envelope)
  } else {
    for await (const envelope of http.readLog({ ...query, after: (from ?? 1) - 1 })) await show(envelope)
  }
}
