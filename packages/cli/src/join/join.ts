import { createInterface, type Interface } from 'node:readline'
import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'
import { createHttpClient, enterSpace } from '../lib/connection.js'
import { exitCodes, formatError } from '../lib/exit.js'
import { getStdoutStyle } from '../lib/output.js'
import { openView } from '../view/conversation-view.js'
import { decodeLineEnds } from '../view/keyboard.js'
import type { View, ViewFlags } from '../view/view.js'
import { CommandRunner } from './command-runner.js'
import { RunInterrupter } from './interruptions.js'
import { LiveTurns } from './live-turns.js'
import { PendingProposals } from './pending-proposals.js'
import { completeLine, readTyped, type Typed } from './slash-commands.js'

export interface JoinFlags extends ViewFlags {
  readonly to?: string[]
}

/** Resolves when the user has left and all typed commands are done. */
export async function join(flags: JoinFlags): Promise<void> {
  const space = await enterSpace(flags)
  const http = createHttpClient(flags)
  const pending = new PendingProposals(space.id)
  const interrupting = new RunInterrupter(space)
  const view = openView(space, flags, {
    echoes: true,
    completer: (line) =>
      completeLine(line, { participants: listOthers(space), proposals: pending.list().map(({ id }) => id) }),
    pending: () => pending.summary(),
    keys: {
      'ctrl+p': () => onTyped({ command: '/pending', argument: '' }),
      escape: () => onTyped({ command: '/interrupt', argument: '' }),
    },
  })
  const atWork = space.runs.map(({ owner }) => owner)
  const live = new LiveTurns({
    at: http.target,
    style: getStdoutStyle(),
    atWork,
    previews: view.lines !== undefined,
  })
  const feed = new Feed(view, (envelope) => (flags.json ? undefined : live.onEnvelope(envelope)))
  const commands = new CommandRunner({ space, flags, view, live, pending, interrupting })
  space.on('envelope', (envelope) => {
    pending.onEnvelope(envelope)
    interrupting.onEnvelope(envelope)
    feed.onEnvelope(envelope)
  })
  space.on('lost', () => pending.restart())
  announceConnection(space, view)
  view.notify(
    `you are ${space.id} in ${space.welcome.space.id}; type to talk, /help tells more, Ctrl+D leaves`,
  )
  if (!flags.json) void announcePending(pending, view, space.welcome.space.head, () => pending.read(http))
  const lines = view.lines ?? createInterface({ input: process.stdin })
  let lastCommand = Promise.resolve()
  try {
    await readTypedLines(lines, space, (line) => onTyped(flags.json ? { say: line } : readTyped(line)))
    await feed.settled()
  } finally {
    lines.close()
    view.close()
    space.close()
  }

  /** Chats are sent at once; commands run in the order in which they were typed. */
  function onTyped(typed: Typed): Promise<void> {
    if ('say' in typed) return runTyped(typed)
    lastCommand = lastCommand.then(() => runTyped(typed))
    return lastCommand
  }

  async function runTyped(typed: Typed): Promise<void> {
    try {
      if ('say' in typed) await space.chat(typed.say, flags.to === undefined ? {} : { to: flags.to })
      else if ('unknown' in typed) view.notify(`✗ there is no ${typed.unknown}; /help says what there is`)
      else await commands.runCommand(typed.command, typed.argument)
    } catch (error) {
      // A chat that could not be sent must not look as if it was sent.
      if ('say' in typed && !(error instanceof ProtocolError)) throw error
      view.notify(`✗ ${formatError(error)}`)
    }
  }
}

/** Announces proposals that were open before joining, when the head of the log was `head`. */
async function announcePending(
  pending: PendingProposals,
  view: View,
  head: number,
  read: () => Promise<void>,
): Promise<void> {
  try {
    await read()
    const waiting = pending.list().filter(({ source }) => source.seq <= head).length
    if (waiting > 0)
      view.notify(`⚠ ${waiting} ${waiting === 1 ? 'proposal waits' : 'proposals wait'}: /pending`)
  } catch (error) {
    view.notify(`… what waits for a decision could not be read: ${formatError(error)}`)
  }
  view.refresh()
}

const listOthers = ({ id: own, participants }: SpaceClient): string[] =>
  participants.map(({ id }) => id).filter((id) => id !== own)

function announceConnection(space: SpaceClient, view: View): void {
  space.on('reconnecting', (inMs, reason) =>
    view.notify(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
  )
  space.on('connected', () => view.notify('… connected again'))
  space.on('lost', () => view.notify('… the log is another one now; this is its beginning'))
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
}

/** Handles lines as they are typed. Resolves when the user leaves and all lines are handled; rejects when one fails. */
async function readTypedLines(
  lines: Interface,
  space: SpaceClient,
  onTyped: (line: string) => Promise<void>,
): Promise<void> {
  const taken: Promise<void>[] = []
  await new Promise<void>((resolve, reject) => {
    lines.on('close', resolve)
    space.on('closed', (error) => (error ? reject(error) : resolve()))
    lines.on('line', (typed) => {
      const line = decodeLineEnds(typed)
      if (line.trim() === '') return
      const done = onTyped(line)
      done.catch(reject)
      taken.push(done)
    })
  })
  await Promise.all(taken)
}

/** Loads the lines that follow an envelope; `undefined` = none. */
type Follow = (envelope: AnyEnvelope) => Promise<readonly string[]> | undefined

/** Shows envelopes in order, each with the lines that follow it before the next. */
export class Feed {
  readonly #view: Pick<View, 'show' | 'append' | 'notify'>
  readonly #follow: Follow
  #last: Promise<void> = Promise.resolve()

  constructor(view: Pick<View, 'show' | 'append' | 'notify'>, follow: Follow) {
    this.#view = view
    this.#follow = follow
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.chatDelta) {
      this.#view.show(envelope) // It is about the present, and stands in no order with what is printed.
      return
    }
    const lines = this.#follow(envelope)?.catch((error: unknown) => {
      this.#view.notify(`… why its tools were called could not be read: ${formatError(error)}`)
      return []
    })
    this.#last = this.#last.then(async () => {
      this.#view.show(envelope)
      if (lines !== undefined) this.#view.append(envelope, await lines)
    })
  }

  /** Resolves when everything is shown. */
  settled(): Promise<void> {
    return this.#last
  }
}
