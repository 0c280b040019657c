import { createInterface, type Interface } from 'node:readline'
import type { ChatOptions, SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import { Bounded, brief, onOneLine, suggest } from '@meup/folds'
import { type AnyEnvelope, isLiveKind, Kind, ProtocolError } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import { announceConnection, createHttpClient, enterSpace } from '../lib/connection.js'
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
import { completeLine, describeUnknownSlashCommand, readTyped, type Typed } from './slash-commands.js'

export interface JoinFlags extends ViewFlags {
  readonly reasoning?: boolean
  readonly to?: readonly string[]
}

/** Resolves when the user has left and all typed commands are done. */
export async function join(flags: JoinFlags): Promise<void> {
  const space = await enterSpace(flags, { openProposals: true })
  const http = createHttpClient(flags)
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
    // If calls were shown as they were made, one line is enough.
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
    // It counts as shown when it is printed, which may be later.
    return () => ({ preview: [], block: pending.card(envelope.id) })
  }
  const feed = new ConversationFeed(view, follow, beginning)
  const commands = new CommandRunner({ space, flags, view, live, pending, interrupting, answers })
  space.on('envelope', (envelope) => {
    pending.onEnvelope(envelope)
    interrupting.onEnvelope(envelope)
    feed.onEnvelope(envelope)
  })
  space.on('lost', () => pending.restart())
  announceConnection(space, (line) => view.notify(line))
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  view.notify(
    `you are ${space.id} in ${space.welcome.space.id}; type to talk, /help tells more, Ctrl+D leaves`,
  )
  if (!flags.json) announcePending(pending, view, head, () => pending.read(http)).catch(complain)
  const lines = view.lines ?? createInterface({ input: process.stdin })
  /** The last line with an unknown name: it is sent if entered again. */
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
    if (!('stranger' in typed)) return onTyped(typed)
    const isAsked = view.lines !== undefined && !typed.isPrivate
    if (isAsked) doubted = line
    view.notify(describeStranger(typed.stranger, listIds(space), isAsked ? (flags.to ?? ['everyone']) : []))
    view.edit(line)
    return Promise.resolve()
  }

  function complain(error: unknown): void {
    view.notify(`✗ ${formatError(error)}`)
  }

  /** Runs the action of a key. */
  function run(typed: Act): void {
    onTyped(typed).catch(complain)
  }

  /** Chats are sent at once; commands run in the order in which they were typed. */
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
      else if ('say' in typed)
        await space.chat(typed.say, {
          ...addressed(typed, flags.to),
          ...(commands.thinkingLevel && { thinkingLevel: commands.thinkingLevel }),
        })
      else if ('command' in typed && typed.command === '/exit') lines.close()
      else if ('unknown' in typed) view.notify(describeUnknownSlashCommand(typed.unknown))
      else await commands.runCommand(typed.command, typed.argument)
    } catch (error) {
      // A chat that could not be sent must not look as if it was sent.
      if ('say' in typed && !(error instanceof ProtocolError)) throw error
      complain(error)
    }
  }
}

/** Earlier lines of the conversation to show on entering, and the number of messages to take them from. */
const [earlierLines, earlierChats] = [10, 20]

/** Shows how the conversation stood when the head of the log was `head`. */
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

/** A line that can be acted on. */
type Act = Exclude<Typed, { readonly stranger: string }>

/** Tools that are remembered for completion. */
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

/** Names in the line take precedence over those of the command, which makes everything private. */
function addressed(
  { to, mention }: Extract<Typed, { readonly say: string }>,
  all: readonly string[] | undefined,
): Pick<ChatOptions, 'to' | 'mention'> {
  const alone = to ?? (all && (mention ?? all))
  if (alone !== undefined) return { to: [...alone] }
  return mention === undefined ? {} : { mention: [...mention] }
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

const listIds = ({ participants }: SpaceClient): string[] => participants.map(({ id }) => id)

const listOthers = (space: SpaceClient): string[] => listIds(space).filter((id) => id !== space.id)

/** Warns about an unknown name in a line. `to`: the readers if the line is sent anyway. */
function describeStranger(name: string, ids: readonly string[], to: readonly string[]): string {
  const meant = suggest(name, ids)
  const near = meant === undefined ? '' : `; did you mean ${meant}?`
  const next = to.length === 0 ? 'It was not said' : `Enter again says it to ${to.join(', ')}`
  return `✗ no one is called ${brief(onOneLine(name), maxNameChars)}${near || '.'} ${next}`
}

/** Maximum characters of an unknown name. */
const maxNameChars = 60

/** Handles lines as they are typed. Resolves when the user leaves and all lines are handled; rejects when one fails. */
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
      if (view.take(line) || line.trim() === '') return
      const done = onTyped(line)
      done.catch(reject)
      taken.push(done)
    })
  })
  await Promise.all(taken)
}

/** Loads what follows an envelope, or makes it once that is printed; `undefined` = nothing. */
type Follow = (envelope: AnyEnvelope) => Promise<Following> | (() => Following) | undefined

/** Shows envelopes in order, each with the lines that follow it before the next. */
export class ConversationFeed {
  readonly #view: Pick<View, 'show' | 'append' | 'notify'>
  readonly #follow: Follow
  #last: Promise<void>

  /** `beginning`: what is printed before the first envelope. */
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
      this.#view.show(envelope) // It is about the present, so its order among printed lines does not matter.
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

  /** Resolves when everything is shown. */
  settled(): Promise<void> {
    return this.#last
  }
}
