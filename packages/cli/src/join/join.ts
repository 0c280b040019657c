import { createInterface, type Interface } from 'node:readline'
import type { Space } from '@meup/agent-sdk'
import { ProtocolError } from '@meup/protocol'
import { destination, enter } from '../connection.js'
import { exitCodes, explain } from '../exit.js'
import { LiveConversation } from '../render/live-conversation.js'
import { styleOfStdout } from '../render/style.js'
import { openView, type View, type ViewFlags } from '../view/view.js'
import { Feed } from './feed.js'
import { inspect } from './inspect.js'
import { LiveTurns, type Place } from './live-turns.js'
import { completeLine, helpLines, readTyped, type Typed } from './slash-commands.js'

export interface JoinFlags extends ViewFlags {
  readonly to?: string[]
}

/** Resolves when one has left, and all that was typed is done. */
export async function join(flags: JoinFlags): Promise<void> {
  const space = await enter(flags)
  const style = styleOfStdout()
  const view = openView(space, flags, {
    echoes: true,
    completer: (line) => completeLine(line, othersIn(space)),
    begin: () => new LiveConversation(style),
  })
  const at = destination(flags)
  const live = new LiveTurns(at, placeOf(space), style)
  const feed = new Feed(view, (envelope) => (flags.json ? undefined : live.take(envelope)))
  space.on('envelope', (envelope) => feed.take(envelope))
  space.on('lost', () => live.restart(placeOf(space)))
  tellOfLine(space, view)
  view.tell(`you are ${space.id} in ${space.welcome.space.id}; type to talk, Ctrl+D leaves`)
  const lines = view.lines ?? createInterface({ input: process.stdin })
  let obeyed = Promise.resolve()
  try {
    await whileTyping(lines, space, (line) => take(flags.json ? { say: line } : readTyped(line)))
    await feed.settled()
  } finally {
    lines.close()
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
      else if (typed.command === '/help') view.print(helpLines())
      else view.print(await inspect(typed.argument, at, live, style))
    } catch (error) {
      // What could not be said must not pass for said.
      if ('say' in typed && !(error instanceof ProtocolError)) throw error
      view.tell(`✗ ${explain(error)}`)
    }
  }
}

const othersIn = ({ id: own, participants }: Space): string[] =>
  participants.map(({ id }) => id).filter((id) => id !== own)

const placeOf = ({ welcome }: Space): Place => ({ space: welcome.space.id, epoch: welcome.space.epoch })

function tellOfLine(space: Space, { tell }: View): void {
  space.on('reconnecting', (inMs, reason) =>
    tell(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
  )
  space.on('lost', () => tell('… the log is another one now; this is its beginning'))
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
}

/** Takes each line as it is typed. Resolves when one leaves and all lines are done; rejects when one of them fails. */
async function whileTyping(
  lines: Interface,
  space: Space,
  take: (line: string) => Promise<void>,
): Promise<void> {
  const taken: Promise<void>[] = []
  await new Promise<void>((resolve, reject) => {
    lines.on('close', resolve)
    space.on('closed', (error) => (error ? reject(error) : resolve()))
    lines.on('line', (line) => {
      if (line.trim() === '') return
      const done = take(line)
      done.catch(reject)
      taken.push(done)
    })
  })
  await Promise.all(taken)
}
