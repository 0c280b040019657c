import type { DialRequest, SpaceClient } from '@meup/agent-sdk'
import { type ConnectionFlags, destination } from '../connection.js'
import { UsageError } from '../exit.js'
import { styleOfStdout } from '../render/style.js'
import { capabilitiesText, readCapabilities } from '../trust/capabilities.js'
import { endOf, spanOf } from '../trust/terms.js'
import type { View } from '../view/view.js'
import { Decisions } from './decisions.js'
import { filterOf, heldBackText } from './filtering.js'
import { inspect } from './inspect.js'
import type { Interrupting } from './interrupting.js'
import type { LiveTurns } from './live-turns.js'
import { participantLines } from './participants.js'
import type { Pending } from './pending.js'
import { replayLines } from './replaying.js'
import { type CommandName, helpLines } from './slash-commands.js'

/** What the commands work on. */
export interface Room {
  readonly space: SpaceClient
  readonly flags: ConnectionFlags
  readonly view: View
  readonly live: LiveTurns
  readonly pending: Pending
  readonly interrupting: Interrupting
}

/** Does what was typed in place of something to say. Rejects with what a person is to read. */
export class Commands {
  readonly #room: Room
  readonly #at: DialRequest
  readonly #decisions: Decisions

  constructor(room: Room) {
    this.#room = room
    this.#at = destination(room.flags)
    this.#decisions = new Decisions(room.space, room.flags, this.#at)
  }

  async obey(command: CommandName, argument: string): Promise<void> {
    const { space, view, live, pending } = this.#room
    const words = argument.split(/\s+/).filter((word) => word !== '')
    switch (command) {
      case '/reasoning':
        return view.print(await inspect(argument, this.#at, live, styleOfStdout()))
      case '/participants':
        return view.print(participantLines(space, argument))
      case '/replay':
        return view.print(await replayLines(argument, this.#at, view.past()))
      case '/filter':
        return this.#filter(words)
      case '/thoughts':
        return view.toggleThoughts()
      case '/output':
        return view.toggleOutput()
      case '/pending':
        return view.print(pending.lines())
      case '/approve':
        return this.#approve(words)
      case '/reject':
        return this.#reject(words)
      case '/grant':
        return this.#grant(argument)
      case '/interrupt':
        return this.interrupt(words[0])
      case '/pause':
        return this.#pause(words)
      case '/resume':
        await space.resume(some(words, '/resume <participant…>'))
        return
      case '/help':
        return view.print(helpLines())
    }
  }

  /** Stops the run that answers whoever types, or the one chosen; `number` = of those that were listed, from 1. */
  async interrupt(number?: string): Promise<void> {
    const { view, interrupting } = this.#room
    const { runs, areMine } = interrupting.choices()
    if (runs.length === 0) return view.tell('nobody thinks at present')
    const latest = runs.slice(-9)
    const at = await this.#choice(
      number,
      latest.map((run) => interrupting.named(run)),
      areMine,
    )
    const run = at === undefined ? undefined : latest[at]
    if (run !== undefined) view.tell(await interrupting.stop(run))
  }

  /** One that answers whoever types is meant without a question; those of others never are. */
  async #choice(number: string | undefined, names: string[], areMine: boolean): Promise<number | undefined> {
    if (number !== undefined) {
      const at = Number(number) - 1
      if (names[at] === undefined) throw new UsageError(`/interrupt takes a number from 1 to ${names.length}`)
      return at
    }
    if (areMine && names.length === 1) return 0
    const question = areMine ? 'interrupt which?' : 'nobody answers you at present; interrupt which?'
    return this.#room.view.ask(question, names)
  }

  async #filter(words: readonly string[]): Promise<void> {
    const { view } = this.#room
    if (words.length === 0) {
      const { filter } = view
      const welcome = await view.choose(filter ?? filterOf([]))
      return view.tell(
        `${filter?.name === undefined ? 'you see everything' : `you see ${filter.name} alone`} · ${heldBackText(welcome)}`,
      )
    }
    const isOff = words.length === 1 && words[0] === 'off'
    const welcome = await view.choose(filterOf(isOff ? [] : words))
    view.tell(
      `${isOff ? 'you see everything' : `you see ${words.join(' ')} alone`} · ${heldBackText(welcome)}`,
    )
  }

  async #approve([start = '', always]: readonly string[]): Promise<void> {
    if (start === '') throw new UsageError('/approve <proposal> [always]; /pending lists them')
    this.#room.view.tell(await this.#decisions.approve(start, always === 'always'))
  }

  async #reject([start = '', ...why]: readonly string[]): Promise<void> {
    if (start === '') throw new UsageError('/reject <proposal> [why]; /pending lists them')
    this.#room.view.tell(await this.#decisions.reject(start, why.join(' ')))
  }

  async #grant(argument: string): Promise<void> {
    // A capability as JSON may have spaces in it.
    const words: string[] = argument.match(/\{.*\}|\S+/g) ?? []
    const span = words.find((word) => /^for:/.test(word))?.slice('for:'.length)
    const [recipient = '', ...named] = words.filter((word) => !/^for:/.test(word))
    const capabilities = readCapabilities(some(named, '/grant <participant> <capability…> [for:1h]'))
    const expiresAt = endOf({ ...(span !== undefined && { for: span }) })
    const terms = { ...(expiresAt !== undefined && { expiresAt }) }
    const { id } = await this.#room.space.grant(recipient, capabilities, terms)
    this.#room.view.tell(`✓ ${recipient} may ${capabilitiesText(capabilities)} (grant ${id})`)
  }

  async #pause(words: readonly string[]): Promise<void> {
    const span = words.find((word) => /^\d+[smhd]$/.test(word))
    const ids = some(
      words.filter((word) => word !== span),
      '/pause <participant…> [10m]',
    )
    const timeout = span === undefined ? {} : { timeoutSeconds: spanOf(span, '/pause') / 1000 }
    await this.#room.space.pause(ids, timeout)
  }
}

/** Throws `UsageError` where there are none. */
function some<Item>(items: readonly Item[], form: string): readonly Item[] {
  if (items.length === 0) throw new UsageError(form)
  return items
}
