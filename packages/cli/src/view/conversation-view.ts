import type { Interface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import type { SpaceClient } from '@meup/agent-sdk'
import { createContextFold, onOneLine } from '@meup/folds'
import {
  type AnyEnvelope,
  isLiveKind,
  Kind,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { createHttpClient } from '../lib/connection.js'
import {
  createDimmer,
  createHighlighter,
  getStdoutStyle,
  isAtTerminal,
  print,
  printJson,
  printNotice,
} from '../lib/output.js'
import { mayAllow } from '../lib/refusals.js'
import { AgentLines, type Following } from '../render/agent-lines.js'
import { AnswerFlow } from '../render/answer-flow.js'
import { Conversation, type LineRenderer, markLines } from '../render/conversation.js'
import { SpokenLines, speakLine } from '../render/spoken-lines.js'
import { ActivityFold } from './activity-fold.js'
import { InputHistory } from './input-history.js'
import { Screen } from './screen.js'
import { liveSurface, plainSurface, type Surface } from './surface.js'
import { ThoughtVisibility } from './thinking.js'
import type { View, ViewFilter, ViewFlags, ViewOptions } from './view.js'

/** Opens a view: plain lines, in a terminal with a status footer. With `--json`, only envelopes are printed. */
export const openView = (space: SpaceClient, flags: ViewFlags, options: ViewOptions): View =>
  flags.json ? jsonView(options) : new ConversationView(space, flags, options)

const nothing = (): void => {}

const jsonView = ({ filter }: ViewOptions): View => ({
  show(envelope) {
    // Slow readers do not receive live-only envelopes. They are printed only if requested by kind, so that output does not
    // depend on the reader's speed.
    const isWanted = !isLiveKind(envelope.kind) || filter?.subscription?.kinds?.includes(envelope.kind)
    if (isWanted && filter?.includes(envelope) !== false) printJson(envelope)
  },
  learn: nothing,
  append: nothing,
  print: (lines) => lines.forEach(print),
  notify: printNotice,
  toggleThoughts: nothing,
  showsThoughts: true,
  toggleOutput: nothing,
  past: () => new Conversation(),
  choose: () => Promise.reject(new Error('whoever reads the JSON chooses what to make of it')),
  ask: async () => undefined,
  prompt: async () => undefined,
  take: () => false,
  edit: nothing,
  read: (line) => line,
  copy: nothing,
  typedSince: undefined,
  filter,
  lines: undefined,
  refresh: nothing,
  close: nothing,
})

/** A conversation for users: interactive in a terminal, otherwise plain lines. */
class ConversationView implements View {
  readonly #space: SpaceClient
  readonly #flags: ViewFlags
  readonly #options: ViewOptions
  readonly #isLive: boolean
  readonly #style = getStdoutStyle()
  readonly #activity = new ActivityFold()
  readonly #subscription: Subscription
  readonly #thinking: ThoughtVisibility
  readonly #lines: LineRenderer
  readonly #screen: Screen
  readonly #flow = new AnswerFlow((chat, columns) =>
    new AgentLines({ ...this.#look(), columns: () => columns, contexts: createContextFold }).lines(chat),
  )
  readonly #surface: Surface
  #filter: ViewFilter | undefined
  /** Why there is no connection at present; `undefined` = there is one. */
  #outage: string | undefined
  /** Requests for missing thoughts that are running or wanted. */
  #rereads = 0

  constructor(space: SpaceClient, flags: ViewFlags, options: ViewOptions) {
    this.#space = space
    this.#flags = flags
    this.#options = options
    this.#isLive = isAtTerminal() && flags.screenReader !== true
    this.#filter = options.filter
    this.#subscription = new Subscription(space, options.filter?.subscription)
    this.#thinking = this.#think(space.welcome.resume.from - 1)
    this.#lines = this.#createRenderer(this.#activity)
    const print = (lines: readonly string[]): void => this.#surface.print(lines)
    this.#screen = new Screen(print, () => this.#thinking.isShown, this.#lines)
    this.#surface = this.#isLive ? this.#live() : plainSurface
    this.#listen()
  }

  get filter(): ViewFilter | undefined {
    return this.#filter
  }

  get lines(): Interface | undefined {
    return this.#surface.lines
  }

  show(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.observeTyping) return
    if (envelope.kind === Kind.observeSummary && this.#isLive) this.#activity.onEnvelope(envelope)
    else if (envelope.kind !== Kind.chatDelta) this.#print(envelope)
    else if (this.#includes({ ...envelope, kind: Kind.chat, payload: { message: '' } })) {
      this.#activity.onEnvelope(envelope)
      this.#flowOn()
    }
    this.#surface.refresh()
  }

  learn(envelope: AnyEnvelope): void {
    this.#lines.lines(envelope)
  }

  #print(envelope: AnyEnvelope): void {
    this.#thinking.onEnvelope(envelope)
    this.#activity.onEnvelope(envelope)
    if (!this.#includes(envelope)) return
    const rest = this.#flow.end(envelope, this.#activity.answers(), this.#surface.columns)
    this.#screen.show(envelope, rest)
    if (rest !== undefined) this.#flowOn()
  }

  /** Prints the finished lines of an unfinished answer, unless lines show a time or seq, which such an answer lacks. */
  #flowOn(): void {
    if (!(this.#lines instanceof AgentLines)) return
    const rows = this.#flow.flow(this.#activity.answers(), this.#surface.columns)
    if (rows.length > 0) this.#surface.print(rows)
  }

  append(envelope: AnyEnvelope, { preview, block: whole }: Following): void {
    const block = this.#thinking.isShown ? whole : whole.filter((line) => !isNarrative(line))
    const lines = this.#lines
    if (lines instanceof AgentLines) this.#surface.print(lines.after(envelope, { preview, block }))
    else if (this.#flags.screenReader && envelope.kind !== Kind.mcpProposal)
      this.#surface.print([...preview, ...block].flatMap(speakLine))
    else this.#surface.print([...preview, ...block])
  }

  get showsThoughts(): boolean {
    return this.#thinking.isShown
  }

  print(lines: readonly string[]): void {
    this.#surface.print(lines)
  }

  notify(line: string): void {
    this.#surface.notify(line)
  }

  toggleThoughts(): void {
    this.#thinking.toggle()
  }

  toggleOutput(): void {
    const lines = this.#lines
    if (!(lines instanceof AgentLines)) {
      this.notify('… tools are told in one line each here; meup watch --json has all that they give back')
      return
    }
    lines.showsOutput = !lines.showsOutput
    this.notify(lines.showsOutput ? 'tool output in full' : 'tool output in brief')
    if (lines.showsOutput) this.#surface.print(lines.latestOutput())
  }

  past(): LineRenderer {
    const activity = new ActivityFold()
    const lines = this.#createRenderer(activity)
    return {
      lines: (envelope) => {
        activity.onEnvelope(envelope)
        return lines.lines(envelope)
      },
    }
  }

  async choose(filter: ViewFilter): Promise<WelcomePayload> {
    const welcome = await this.#subscription.choose(filter.subscription ?? {})
    this.#filter = filter
    this.#surface.refresh()
    return welcome
  }

  ask(question: string, choices: readonly string[], signal?: AbortSignal): Promise<number | undefined> {
    return this.#surface.choose(question, choices, signal)
  }

  prompt(question: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#surface.prompt(question, signal)
  }

  take(line: string): boolean {
    return this.#surface.take(line)
  }

  edit(line: string): void {
    this.#surface.edit(line)
  }

  read(line: string): string {
    return this.#surface.read(line)
  }

  copy(text: string): void {
    this.#surface.copy(text)
  }

  get typedSince(): number | undefined {
    return this.#surface.typedSince
  }

  refresh(): void {
    this.#surface.refresh()
  }

  close(): void {
    this.#surface.close()
  }

  #includes(envelope: AnyEnvelope): boolean {
    return this.#filter?.includes(envelope) ?? true
  }

  #createRenderer(activity: ActivityFold): LineRenderer {
    const contexts = () => activity.contexts
    if (this.#flags.screenReader) return new SpokenLines(contexts)
    const { time, seq } = this.#flags
    if (!this.#isLive || time || seq) return markLines(new Conversation(), this.#flags)
    const columns = (): number => this.#surface.columns
    return new AgentLines({
      ...this.#look(),
      self: this.#space.id,
      columns,
      contexts,
      summaries: () => activity.summaries,
      // Lines that suggest `/allow` are only for views that can decide proposals: other views do not have this command.
      ...(this.#options.pending && { mayAllow: (each) => mayAllow(this.#space, each) }),
    })
  }

  #look() {
    return { style: this.#style, highlight: createHighlighter(this.#style) }
  }

  #live(): Surface {
    const { echoes, completer, keys } = this.#options
    return liveSurface({
      parts: () => ({
        heading: this.#heading(),
        answers: (columns) => this.#activity.answers().map((each) => this.#flow.tail(each, columns)),
        // If the filter excludes the ends of runs, it is unknown which agents and tools are still active.
        thinkers: this.#receivesEnds() ? this.#activity.thinkers() : [],
        tools: this.#receivesEnds() ? this.#activity.tools() : [],
        showsThoughts: this.#thinking.isShown,
        pending: this.#options.pending?.(),
      }),
      dim: createDimmer(this.#style),
      echoes,
      completer,
      keys: {
        'ctrl+t': () => this.toggleThoughts(),
        'ctrl+o': () => this.toggleOutput(),
        ...keys,
      },
      history: echoes
        ? InputHistory.open(this.#space.id, (reason) => setImmediate(() => this.notify(reason)))
        : undefined,
    })
  }

  #heading(): string {
    const { id, welcome } = this.#space
    const { audience } = this.#options
    return [
      `${id} in ${welcome.space.id}`,
      ...(audience === undefined ? [] : [`to ${audience.join(', ')} alone`]),
      ...(this.#outage === undefined ? [] : ['not connected']),
      ...(this.#thinking.isShown ? [] : ['thinking hidden']),
      ...this.#hiddenRuns(),
      ...(this.#lines instanceof AgentLines && this.#lines.showsOutput ? ['tool output in full'] : []),
      ...(this.#filter?.name === undefined ? [] : [`only ${this.#filter.name}`]),
      ...(this.#outage === undefined ? [] : [onOneLine(this.#outage)]),
    ].join(' · ')
  }

  /** Notes about thoughts that are hidden from everyone, and who has hidden them. */
  #hiddenRuns(): string[] {
    const texts = this.#space.runs.flatMap(({ owner, hiddenBy }) =>
      hiddenBy ? [`thoughts of ${owner} hidden by ${hiddenBy.join(' and ')}`] : [],
    )
    return [...new Set(texts)]
  }

  #receivesEnds(): boolean {
    const { kinds, reasoning } = this.#subscription.chosen
    return kinds === undefined && reasoning !== 'none'
  }

  /**
   * Creates the object that Ctrl+T uses to hide and show thoughts. `since`: hidden thoughts after this seq can be read from the
   * log again.
   */
  #think(since: number): ThoughtVisibility {
    return new ThoughtVisibility({
      space: this.#space,
      changed: () => {
        if (!this.#thinking.isShown) this.#screen.hide()
        this.notify(this.#thinking.status)
      },
      reread: () => this.#startReread(since),
      failed: (error) => {
        this.#complain('Failed to toggle reasoning on server', error)
        this.#screen.catchUp([], false)
      },
      cut: async (isCut) => {
        if (this.#outage !== undefined) throw new Error('it cannot be reached at present')
        await this.#subscription.cutThoughts(isCut)
        if (isCut) this.notify('… the gateway sends you no thoughts until Ctrl+T')
      },
    })
  }

  /** Reacts when the thoughts of a run are hidden from everyone or shown again. */
  #onVisibility(isShown: boolean, since: number): void {
    if (!isShown) this.#screen.hide()
    else if (this.#thinking.isShown) this.#startReread(since)
    this.#surface.refresh()
  }

  #startReread(since: number): void {
    this.#reread(since).catch((error: unknown) => this.#complain('Failed to show the log again', error))
  }

  /** Reads the log for missing thoughts, one request at a time: a change during one is followed by another. */
  async #reread(since: number): Promise<void> {
    if (!this.#screen.isBehind || this.#rereads++ > 0) return
    try {
      for (let done = 0; done < this.#rereads && this.#screen.isBehind; ) {
        done = this.#rereads
        await this.#readMissing(since)
      }
    } finally {
      this.#rereads = 0
    }
  }

  async #readMissing(since: number): Promise<void> {
    try {
      const { envelopes } = await createHttpClient(this.#flags).readLogPage({ after: since, order: 'desc' })
      // If a run is still hidden, its thoughts are missing from the log page.
      const isWhole = this.#space.runs.every(({ reasoningVisible }) => reasoningVisible)
      this.#screen.catchUp(
        envelopes.toReversed().filter((each) => this.#includes(each)),
        isWhole,
      )
    } catch (error) {
      this.#screen.catchUp([], false)
      this.#complain('Failed to read the log again', error)
    }
  }

  #complain(what: string, error: unknown): void {
    if (this.#flags.verbose) this.notify(`${what}: ${error}`)
  }

  #listen(): void {
    const space = this.#space
    const setOutage = (reason: string | undefined): void => {
      this.#outage = reason
      this.#surface.refresh()
    }
    this.#activity.reset(space.welcome)
    space.on('welcome', (welcome) => {
      this.#activity.reset(welcome, welcome.resume.status === 'lost')
      this.#surface.refresh()
    })
    // In a pipe, output must not depend on the reader's speed, so thoughts that were hidden are not printed once they are shown
    // again.
    const isWatched = this.#isLive || this.#flags.screenReader === true
    const since = space.welcome.resume.from - 1
    if (isWatched)
      space.on('visibility', ({ reasoningVisible }) => this.#onVisibility(reasoningVisible, since))
    space.on('reconnecting', (_, reason) => setOutage(reason))
    space.on('connected', () => setOutage(undefined))
    space.on('connected', () => this.#thinking.onConnected())
  }
}

const isNarrative = (line: string): boolean => stripVTControlCharacters(line).startsWith('  Narrative: ')

/** The connection's subscription: the user's filter, minus thoughts while they are hidden [MEUP-9.1]. */
class Subscription {
  readonly #space: Pick<SpaceClient, 'subscribe'>
  #chosen: SubscribePayload
  #cutsThoughts = false

  constructor(space: Pick<SpaceClient, 'subscribe'>, chosen: SubscribePayload = {}) {
    this.#space = space
    this.#chosen = chosen
  }

  get chosen(): SubscribePayload {
    return this.#chosen
  }

  choose(chosen: SubscribePayload): Promise<WelcomePayload> {
    this.#chosen = chosen
    return this.#ask()
  }

  /** Subscribes without thoughts, or with them again. */
  async cutThoughts(isCut: boolean): Promise<void> {
    if (isCut === this.#cutsThoughts) return
    const before = this.#cutsThoughts
    this.#cutsThoughts = isCut
    try {
      await this.#ask()
    } catch (error) {
      this.#cutsThoughts = before
      throw error
    }
  }

  #ask(): Promise<WelcomePayload> {
    const isMore = (this.#chosen.reasoning ?? 'full') === 'full'
    return this.#space.subscribe({
      ...this.#chosen,
      ...(this.#cutsThoughts && isMore && { reasoning: 'boundaries' }),
    })
  }
}
