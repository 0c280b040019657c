import type { Interface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import type { SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope, WelcomePayload } from '@meup/protocol'
import { destination } from '../connection.js'
import { readTail } from '../reading.js'
import { Conversation, type Lines } from '../render/conversation.js'
import { styleOfStdout } from '../render/style.js'
import { Activity } from './activity.js'
import { AgentLines } from './agent-lines.js'
import { isAtTerminal } from './at-terminal.js'
import { dimming, highlighting } from './colours.js'
import { liveSurface } from './live.js'
import { plainSurface } from './plain.js'
import { Screen } from './screen.js'
import { Subscription } from './subscription.js'
import type { Surface } from './surface.js'
import { Thinking } from './thinking.js'
import type { View, ViewFilter, ViewFlags, ViewOptions } from './view.js'
import { WordLines } from './words.js'

/** A conversation for people: live at a terminal, else lines alone. */
export class Conversing implements View {
  readonly #space: SpaceClient
  readonly #flags: ViewFlags
  readonly #options: ViewOptions
  readonly #isLive: boolean
  readonly #style = styleOfStdout()
  readonly #activity = new Activity()
  readonly #subscription: Subscription
  readonly #thinking: Thinking
  readonly #lines: Lines
  readonly #screen: Screen
  readonly #surface: Surface
  #filter: ViewFilter | undefined
  #isConnected = true

  constructor(space: SpaceClient, flags: ViewFlags, options: ViewOptions) {
    this.#space = space
    this.#flags = flags
    this.#options = options
    this.#isLive = isAtTerminal() && flags.screenReader !== true
    this.#filter = options.filter
    this.#subscription = new Subscription(space, options.filter?.subscription)
    this.#thinking = this.#think(space.welcome.resume.from - 1)
    this.#lines = this.#linesOf(this.#activity)
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
    this.#thinking.take(envelope)
    this.#activity.take(envelope)
    if (this.#includes(envelope)) this.#screen.show(envelope)
    this.#surface.refresh()
  }

  append(envelope: AnyEnvelope, following: readonly string[]): void {
    const lines = this.#thinking.isShown ? following : following.filter((line) => !isNarrative(line))
    this.#surface.print(this.#lines instanceof AgentLines ? this.#lines.after(envelope, lines) : lines)
  }

  print(lines: readonly string[]): void {
    this.#surface.print(lines)
  }

  tell(line: string): void {
    this.#surface.say(line)
  }

  toggleThoughts(): void {
    this.#thinking.toggle()
  }

  toggleOutput(): void {
    const lines = this.#lines
    if (!(lines instanceof AgentLines)) {
      this.tell('… tools are told in one line each here; meup watch --json has all that they give back')
      return
    }
    lines.showsOutput = !lines.showsOutput
    this.tell(lines.showsOutput ? 'tool output in full' : 'tool output in brief')
    if (lines.showsOutput) this.#surface.print(lines.latestOutput())
  }

  past(): Lines {
    const activity = new Activity()
    const lines = this.#linesOf(activity)
    return {
      lines: (envelope) => {
        activity.take(envelope)
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

  ask(question: string, choices: readonly string[]): Promise<number | undefined> {
    return this.#surface.choose(question, choices)
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

  #linesOf(activity: Activity): Lines {
    const contexts = () => activity.contexts
    if (this.#flags.screenReader) return new WordLines(contexts)
    if (!this.#isLive) return new Conversation()
    const columns = (): number => this.#surface.columns
    return new AgentLines({ style: this.#style, highlight: highlighting(this.#style), columns, contexts })
  }

  #live(): Surface {
    const { echoes, completer, keys } = this.#options
    return liveSurface({
      parts: () => ({
        heading: this.#heading(),
        // Where nobody tells of ends, nobody knows what goes on.
        thinkers: this.#tellsEnds() ? this.#activity.thinkers() : [],
        tools: this.#tellsEnds() ? this.#activity.tools() : [],
        showsThoughts: this.#thinking.isShown,
        pending: this.#options.pending?.(),
      }),
      dim: dimming(this.#style),
      echoes,
      completer,
      keys: {
        'ctrl+t': () => this.toggleThoughts(),
        'ctrl+o': () => this.toggleOutput(),
        ...keys,
      },
    })
  }

  #heading(): string {
    const { id, welcome } = this.#space
    return [
      `${id} in ${welcome.space.id}`,
      ...(this.#isConnected ? [] : ['not connected']),
      ...(this.#thinking.isShown ? [] : ['thinking hidden']),
      ...(this.#lines instanceof AgentLines && this.#lines.showsOutput ? ['tool output in full'] : []),
      ...(this.#filter?.name === undefined ? [] : [`only ${this.#filter.name}`]),
    ].join(' · ')
  }

  #tellsEnds(): boolean {
    const { kinds, reasoning } = this.#subscription.chosen
    return kinds === undefined && reasoning !== 'none'
  }

  /** `since`: the last seq that was there before this view. */
  #think(since: number): Thinking {
    return new Thinking({
      space: this.#space,
      isConnected: () => this.#isConnected,
      changed: () => {
        if (!this.#thinking.isShown) this.#screen.hide()
        this.tell(this.#thinking.status)
      },
      reread: () => {
        if (this.#thinking.isShown) void this.#reread(since)
      },
      failed: (error) => {
        this.#complain('Failed to toggle reasoning on server', error)
        this.#screen.catchUp([], false)
      },
      cut: async (isCut) => {
        await this.#subscription.cutThoughts(isCut)
        if (isCut) this.tell('… you may not hide them for others; the gateway sends you none')
      },
    })
  }

  async #reread(since: number): Promise<void> {
    try {
      const logged = await readTail(destination(this.#flags), since)
      this.#screen.catchUp(
        logged.filter((each) => this.#includes(each)),
        true,
      )
    } catch (error) {
      this.#screen.catchUp([], false)
      this.#complain('Failed to read the log again', error)
    }
  }

  #complain(what: string, error: unknown): void {
    if (this.#flags.verbose) this.tell(`${what}: ${error}`)
  }

  #listen(): void {
    const space = this.#space
    const connected = (isConnected: boolean) => () => {
      this.#isConnected = isConnected
      this.#surface.refresh()
    }
    this.#activity.reset(space.welcome)
    space.on('welcome', (welcome) => {
      this.#activity.reset(welcome, welcome.resume.status === 'lost')
      this.#surface.refresh()
    })
    // Where nobody sits, lines do not depend on how far they are behind.
    const isWatched = this.#isLive || this.#flags.screenReader === true
    if (isWatched) space.on('visibility', (change) => this.#thinking.follow(change))
    space.on('reconnecting', connected(false))
    space.on('connected', connected(true))
  }
}

const isNarrative = (line: string): boolean => stripVTControlCharacters(line).startsWith('  Narrative: ')
