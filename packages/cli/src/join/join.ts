import { createInterface, type Interface } from 'node:readline'
import type { SpaceClient } from '@meup/agent-sdk'
import { ProtocolError } from '@meup/protocol'
import { destination, enter } from '../connection.js'
import { exitCodes, explain } from '../exit.js'
import { styleOfStdout } from '../render/style.js'
import { openView } from '../view/open-view.js'
import { withLineEnds } from '../view/pasting.js'
import type { View, ViewFlags } from '../view/view.js'
import { completeLine } from './complete-line.js'
import { Feed } from './feed.js'
import { Interrupting } from './interrupting.js'
import { LiveTurns } from './live-turns.js'
import { Commands } from './obey.js'
import { Pending } from './pending.js'
import { readTyped, type Typed } from './slash-commands.js'

export interface JoinFlags extends ViewFlags {
  readonly to?: string[]
}

/** Resolves when one has left, and all that was typed is done. */
export async function join(flags: JoinFlags): Promise<void> {
  const space = await enter(flags)
  const at = destination(flags)
  const pending = new Pending(space.id)
  const interrupting = new Interrupting(space)
  const view = openView(space, flags, {
    echoes: true,
    completer: (line) =>
      completeLine(line, { participants: othersIn(space), proposals: pending.list().map(({ id }) => id) }),
    pending: () => pending.summary(),
    keys: {
      'ctrl+p': () => take({ command: '/pending', argument: '' }),
      escape: () => take({ command: '/interrupt', argument: '' }),
    },
  })
  const atWork = space.runs.map(({ owner }) => owner)
  const live = new LiveTurns({ at, style: styleOfStdout(), atWork, previews: view.lines !== undefined })
  const feed = new Feed(view, (envelope) => (flags.json ? undefined : live.take(envelope)))
  const commands = new Commands({ space, flags, view, live, pending, interrupting })
  space.on('envelope', (envelope) => {
    pending.take(envelope)
    interrupting.take(envelope)
    feed.take(envelope)
  })
  space.on('lost', () => pending.restart())
  tellOfLine(space, view)
  view.tell(`you are ${space.id} in ${space.welcome.space.id}; type to talk, /help tells more, Ctrl+D leaves`)
  if (!flags.json) void tellPending(pending, view, () => pending.read(at))
  const lines = view.lines ?? createInterface({ input: process.stdin })
  let obeyed = Promise.resolve()
  try {
    await whileTyping(lines, space, (line) => take(flags.json ? { say: line } : readTyped(line)))
    await feed.settled()
  } finally {
    lines.close()
    view.close()
    space.close()
  }

  /** What is said goes out at once; commands answer in the order in which they were typed. */
  function take(typed: Typed): Promise<void> {
    if ('say' in typed) return obey(typed)
    obeyed = obeyed.then(() => obey(typed))
    return obeyed
  }

  async function obey(typed: Typed): Promise<void> {
    try {
      if ('say' in typed) await space.chat(typed.say, flags.to === undefined ? {} : { to: flags.to })
      else if ('unknown' in typed) view.tell(`✗ there is no ${typed.unknown}; /help says what there is`)
      else await commands.obey(typed.command, typed.argument)
    } catch (error) {
      // What could not be said must not pass for said.
      if ('say' in typed && !(error instanceof ProtocolError)) throw error
      view.tell(`✗ ${explain(error)}`)
    }
  }
}

/** Says what has been waiting for a decision since before one came. */
async function tellPending(pending: Pending, view: View, read: () => Promise<void>): Promise<void> {
  try {
    await read()
    const waiting = pending.list().length
    if (waiting > 0)
      view.tell(`⚠ ${waiting} ${waiting === 1 ? 'proposal waits' : 'proposals wait'}: /pending`)
  } catch (error) {
    view.tell(`… what waits for a decision could not be read: ${explain(error)}`)
  }
  view.refresh()
}

const othersIn = ({ id: own, participants }: SpaceClient): string[] =>
  participants.map(({ id }) => id).filter((id) => id !== own)

function tellOfLine(space: SpaceClient, view: View): void {
  space.on('reconnecting', (inMs, reason) =>
    view.tell(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
  )
  space.on('connected', () => view.tell('… connected again'))
  space.on('lost', () => view.tell('… the log is another one now; this is its beginning'))
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
}

/** Takes each line as it is typed. Resolves when one leaves and all lines are done; rejects when one of them fails. */
async function whileTyping(
  lines: Interface,
  space: SpaceClient,
  take: (line: string) => Promise<void>,
): Promise<void> {
  const taken: Promise<void>[] = []
  await new Promise<void>((resolve, reject) => {
    lines.on('close', resolve)
    space.on('closed', (error) => (error ? reject(error) : resolve()))
    lines.on('line', (typed) => {
      const line = withLineEnds(typed)
      if (line.trim() === '') return
      const done = take(line)
      done.catch(reject)
      taken.push(done)
    })
  })
  await Promise.all(taken)
}
