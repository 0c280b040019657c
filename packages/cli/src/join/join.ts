import { createInterface, type Interface } from 'node:readline'
import type { ChatOptions, SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { Bounded, brief, onOneLine, suggest, unansweredText } from '@meup/folds'
import { type AnyEnvelope, isLiveKind, Kind, ProtocolError } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import { describeFailures, listAway, listToolServers } from '../lib/away.js'
import { announceConnection, enterSpace, resolveTarget } from '../lib/connection.js'
import { type ProgramReports, readPrograms } from '../lib/control-client.js'
import { formatError } from '../lib/exit.js'
import { getStdoutStyle } from '../lib/output.js'
import type { Following } from '../render/agent-lines.js'
import { openView } from '../view/conversation-view.js'
import type { View, ViewFlags } from '../view/view.js'
import { CommandRunner } from './command-runner.js'
import { RunInterrupter } from './interruptions.js'
import { LatestAnswers } from './latest-answers.js'
import { LiveTurns } from './live-turns.js'
import { PendingProposals } from './pending-proposals.js'
import {
  type CommandName,
  completeLine,
  describeUnknownSlashCommand,
  readTyped,
  type Typed,
} from './slash-commands.js'

export interface JoinFlags extends ViewFlags {
  readonly reasoning?: boolean
  readonly to?: readonly string[]
}

/** `meup join`. Resolves when the user has left and all typed commands have finished. */
export async function join(flags: JoinFlags): Promise<void> {
  const space = await enterSpace(flags, { openProposals: true })
  // Repeats nothing: what happens now is shown after what happened earlier.
  const http = new HttpClient(resolveTarget(flags))
  const pending = new PendingProposals(space)
  const tools = new Bounded<true>(maxTools)
  const interrupting = new RunInterrupter(space)
  const view = openView(space, flags, {
    echoes: true,
    ...(flags.to && { audience: flags.to }),
    completer: (line) =>
      completeLine(line, {
        participants: listOthers(space),
        tools: [...tools.keys()].map((tool) => `tool:${tool}`),
        proposals: pending.list().map(({ id }) => id),
      }),
    pending: () => pending.summary(),
    keys: {
      'ctrl+p': () => run({ command: '/pending', argument: '' }),
      escape: () => run({ command: '/interrupt', argument: '' }),
      'ctrl+c': () => {
        const runs = interrupting.unstopped()
        for (const each of runs) interrupting.stop(each).then((line) => view.notify(line), complain)
        return runs.length > 0
      },
    },
  })
  const atWork = space.runs.map(({ owner }) => owner)
  const live = new LiveTurns({
    at: http.target,
    style: getStdoutStyle(),
    atWork,
    previews: view.lines !== undefined,
    // A view that shows thoughts in a terminal also shows calls as they are made: one line per finished turn is enough there.
    isWhole: () => view.lines === undefined || flags.reasoning === true || !view.showsThoughts,
  })
  const { head } = space.welcome.space
  const isInteractive = view.lines !== undefined
  const answers = new LatestAnswers(space.id)
  const beginning = isInteractive ? showEarlier(http, view, { head, answers }).catch(complain) : undefined
  const follow: Follow = (envelope) => {
    if (flags.json) return undefined
    answers.onEnvelope(envelope)
    const tool = calledTool(envelope)
    if (tool !== undefined) tools.set(tool, true)
    const following = live.onEnvelope(envelope)
    if (envelope.kind !== Kind.mcpProposal || view.filter?.includes(envelope) === false) return following
    // A function, to be called once the envelope is printed: `card` records the time from which the proposal counts as shown.
    return () => ({ preview: [], block: pending.card(envelope.id) })
  }
  const feed = new ConversationFeed(view, follow, beginning)
  const commands = new CommandRunner({ space, flags, view, live, pending, interrupting, answers })
  space.on('envelope', (envelope) => {
    pending.onEnvelope(envelope)
    interrupting.onEnvelope(envelope)
    feed.onEnvelope(envelope)
  })
  space.on('unanswered', ({ agent }) => {
    const line = `✗ ${unansweredText(agent)}`
    feed.settled().then(() => view.notify(line), complain)
  })
  space.on('lost', () => pending.restart())
  const hint = isInteractive ? ' · Enter tries at once' : undefined
  const connection = announceConnection(space, (line) => view.notify(line), hint)
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  view.notify(
    `you are ${space.id} in ${space.welcome.space.id}; type to talk, /help tells more, Ctrl+D leaves`,
  )
  if (!flags.json) announcePending(pending, view, head, () => pending.read(http)).catch(complain)
  const lines = view.lines ?? createInterface({ input: process.stdin })
  /** The last line with an unknown name. If the user enters the same line again, it is sent. */
  let doubted: string | undefined
  let lastCommand = Promise.resolve()
  try {
    await readTypedLines(lines, space, view, onLine)
    await feed.settled()
  } finally {
    lines.close()
    view.close()
    space.close()
  }

  function onLine(line: string): Promise<void> {
    const typed = flags.json || line === doubted ? { say: line } : readTyped(line, listIds(space))
    doubted = undefined
    if (!('stranger' in typed)) {
      if (!connection.isOpen && isSent(typed))
        view.notify(`… not connected; it is sent after that: ${brief(onOneLine(line), maxLineChars)}`)
      return onTyped(typed)
    }
    const isAsked = view.lines !== undefined && !typed.isPrivate
    if (isAsked) doubted = line
    view.notify(describeStranger(typed.stranger, listIds(space), isAsked ? (flags.to ?? ['everyone']) : []))
    view.edit(line)
    return Promise.resolve()
  }

  function complain(error: unknown): void {
    view.notify(`✗ ${formatError(error)}`)
  }

  /** Runs the action of a key binding. */
  function run(typed: Act): void {
    onTyped(typed).catch(complain)
  }

  /** Chats are sent immediately; commands run one after the other, in typed order. */
  function onTyped(typed: Act): Promise<void> {
    if ('say' in typed || ('command' in typed && typed.command === '/exit')) return runTyped(typed)
    lastCommand = lastCommand.then(() => runTyped(typed))
    return lastCommand
  }

  async function runTyped(typed: Act): Promise<void> {
    try {
      const decision = 'say' in typed && !typed.to && !typed.mention ? readDecision(typed.say) : undefined
      if (decision !== undefined && view.lines !== undefined && commands.isDeciding)
        await commands.decide(decision)
      else if ('say' in typed) {
        const whom = addressed(typed, flags.to)
        await space.chat(typed.say, {
          ...whom,
          ...(commands.thinkingLevel && { thinkingLevel: commands.thinkingLevel }),
        })
        if (isInteractive) await warnOfSilence(space, view, whom, () => readPrograms(http.target))
      } else if ('command' in typed && typed.command === '/exit') lines.close()
      else if ('unknown' in typed) view.notify(describeUnknownSlashCommand(typed.unknown))
      else await commands.runCommand(typed.command, typed.argument)
    } catch (error) {
      // A failed chat ends the command, so that no unsent text looks as if it was sent.
      if ('say' in typed && !(error instanceof ProtocolError)) throw error
      complain(error)
    }
  }
}

/** Maximum lines of the earlier conversation shown on entering, and the number of chats they are taken from. */
const [earlierLines, earlierChats] = [10, 20]

/** Prints the end of the conversation up to the seq `head`. */
async function showEarlier(
  http: HttpClient,
  view: View,
  { head, answers }: { readonly head: number; readonly answers: LatestAnswers },
): Promise<void> {
  const query = { kind: [Kind.chat], before: head + 1, order: 'desc', limit: earlierChats } as const
  const { envelopes } = await http.readLogPage(query)
  const past = view.past()
  const said = envelopes.toReversed().filter(({ context }) => context === undefined)
  const lines = said.flatMap((each) => past.lines(each))
  if (answers.text === undefined) said.forEach((each) => void answers.onEnvelope(each))
  if (lines.length === 0) return
  const shown = lines.slice(-earlierLines)
  view.print([
    `… what was said before${shown.length < lines.length ? '; /replay shows more' : ''}:`,
    ...shown,
  ])
}

/** A line without unknown addressees. */
type Act = Exclude<Typed, { readonly stranger: string }>

/** Commands that send an envelope, and wait until the gateway has it. */
const sendingCommands: readonly CommandName[] = [
  ...(['/grant', '/reject', '/interrupt', '/pause', '/resume'] as const),
  ...(['/hide', '/show', '/reply', '/compact'] as const),
]

const isSent = (typed: Act): boolean =>
  'say' in typed || ('command' in typed && sendingCommands.includes(typed.command))

/** Maximum number of tools remembered for completion. */
const maxTools = 200

/** The tool of a call, such as `files/read_text_file`. */
function calledTool({ kind, to = [], payload }: AnyEnvelope): string | undefined {
  if (kind !== Kind.mcpRequest || payload.method !== 'tools/call') return undefined
  const { name } = (payload.params ?? {}) as { readonly name?: unknown }
  const [owner] = to
  return typeof name === 'string' && owner !== undefined ? onOneLine(`${owner}/${name}`) : undefined
}

const readDecision = (said: string): 'y' | 'n' | undefined =>
  said.trim() === 'y' ? 'y' : said.trim() === 'n' ? 'n' : undefined

/** Combines the names in the line with those of `--to`, which makes every message private; names in the line win. */
function addressed(
  { to, mention }: Extract<Typed, { readonly say: string }>,
  all: readonly string[] | undefined,
): Pick<ChatOptions, 'to' | 'mention'> {
  const alone = to ?? (all && (mention ?? all))
  if (alone !== undefined) return { to: [...alone] }
  return mention === undefined ? {} : { mention: [...mention] }
}

/** Warns if addressees cannot answer: agents that are away do not receive the question, tool servers receive only calls. */
async function warnOfSilence(
  space: SpaceClient,
  view: View,
  { to, mention }: Pick<ChatOptions, 'to' | 'mention'>,
  readReports: () => Promise<ProgramReports>,
): Promise<void> {
  const { frontDesk } = space.welcome.space
  const named = to ?? mention ?? frontDesk ?? []
  const asked = typeof named === 'string' ? [named] : named
  for (const server of listToolServers(space, asked))
    view.notify(`… ${server} is a tool server, and answers no questions`)
  const away = listAway(space, asked)
  if (away.length === 0) return
  view.notify(`… ${away.join(', ')} ${away.length === 1 ? 'is' : 'are'} away, and may not read this`)
  for (const failure of describeFailures(space, away, await readReports()).values())
    view.notify(`… ${failure}`)
}

/** Announces proposals up to the seq `head`: they were open before this participant joined. */
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

const listIds = ({ participants }: SpaceClient): string[] => participants.map(({ id }) => id)

const listOthers = (space: SpaceClient): string[] => listIds(space).filter((id) => id !== space.id)

/** Describes an unknown name in a line. `to`: recipients if the line is entered again. */
function describeStranger(name: string, ids: readonly string[], to: readonly string[]): string {
  const meant = suggest(name, ids)
  const near = meant === undefined ? '.' : `. Did you mean ${meant}?`
  const next = to.length === 0 ? 'It was not said' : `Enter again says it to ${to.join(', ')}`
  return `✗ no one is called ${brief(onOneLine(name), maxNameChars)}${near} ${next}`
}

/** Maximum characters that a notice quotes of an unknown name, and of a line that waits for the connection. */
const [maxNameChars, maxLineChars] = [60, 120]

/** Handles typed lines. Resolves when the user has left and every line is handled; rejects when one fails. */
async function readTypedLines(
  lines: Interface,
  space: SpaceClient,
  view: View,
  onTyped: (line: string) => Promise<void>,
): Promise<void> {
  const taken: Promise<void>[] = []
  await new Promise<void>((resolve, reject) => {
    lines.on('close', resolve)
    space.on('closed', (error) => (error ? reject(error) : resolve()))
    lines.on('line', (typed) => {
      const line = view.read(typed)
      if (view.take(line)) return
      if (line.trim() === '') return space.reconnectNow()
      const done = onTyped(line)
      done.catch(reject)
      taken.push(done)
    })
  })
  await Promise.all(taken)
}

/**
 * Returns the lines to print below an envelope, as a promise or as a function to call once the envelope is printed; `undefined`
 * = none.
 */
type Follow = (envelope: AnyEnvelope) => Promise<Following> | (() => Following) | undefined

/** Prints envelopes in order, each followed by the lines that belong to it. */
export class ConversationFeed {
  readonly #view: Pick<View, 'show' | 'append' | 'notify'>
  readonly #follow: Follow
  #last: Promise<void>

  /** `beginning` resolves when the earlier conversation is printed. */
  constructor(
    view: Pick<View, 'show' | 'append' | 'notify'>,
    follow: Follow,
    beginning: Promise<void> | undefined = Promise.resolve(),
  ) {
    this.#view = view
    this.#follow = follow
    this.#last = beginning
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (isLiveKind(envelope.kind)) {
      this.#view.show(envelope) // Live state only, so it need not wait for earlier envelopes.
      return
    }
    const follow = this.#follow(envelope)
    const following =
      typeof follow === 'function'
        ? follow
        : follow?.catch((error: unknown) => {
            this.#view.notify(`… why its tools were called could not be read: ${formatError(error)}`)
            return { preview: [], block: [] }
          })
    this.#last = this.#last.then(async () => {
      this.#view.show(envelope)
      if (following === undefined) return
      this.#view.append(envelope, typeof following === 'function' ? following() : await following)
    })
  }

  /** Resolves when every envelope is printed. */
  settled(): Promise<void> {
    return this.#last
  }
}
