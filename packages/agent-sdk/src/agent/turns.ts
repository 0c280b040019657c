import { type AnyEnvelope, correlations, type EnvelopeOf, Kind } from '@meup/protocol'
import { active } from '../participant/active.js'
import { ConnectionError } from '../participant/errors.js'
import type { Seat } from '../participant/seat.js'
import { stream } from '../participant/stream.js'
import { Refusals } from './refusals.js'
import { Turn } from './turn.js'
import type { Workload } from './workload.js'

export interface TurnOptions {
  /** Which messages of others begin a turn; default: those put to this participant, and questions put to everyone. */
  readonly trigger?: (message: EnvelopeOf<typeof Kind.chat>, space: Seat) => boolean
  /** Told of each turn at once, before its handler is. */
  readonly onOpen?: (turn: Turn) => void
  /** Told of what goes wrong in a turn, and when messages begin to be refused; default: prints it. The next turns go on. */
  readonly onError?: (error: unknown, turn: Turn) => void
}

/**
 * Turns that are open, waiting ones included, and characters of what they ask. One asker has a quarter of that at most. A
 * message beyond that is refused: its asker gets an answer that says so.
 */
const [maxOpen, maxOpenChars] = [1000, 4 * 1024 * 1024]
const maxShare = 0.25

/** An answer to somebody else (it has a correlationId) is no question. */
export const isAsked = (message: EnvelopeOf<typeof Kind.chat>, space: Seat): boolean =>
  message.context === undefined &&
  (message.to === undefined ? message.correlationId === undefined : message.to.includes(space.id))

/** What is open: turns, and characters of what they ask. */
interface Load {
  readonly turns: number
  readonly chars: number
}

const hasRoom = ({ turns, chars }: Load, { text }: Turn, share: number): boolean =>
  turns < share * maxOpen && chars + text.length <= share * maxOpenChars

/** Turns messages into turns, and ends those that are taken back. */
export class Turns {
  readonly #space: Seat
  readonly #options: TurnOptions
  readonly #workload: Workload
  readonly #open = new Set<Turn>()
  readonly #byAsker = new Map<string, Load>()
  readonly #refusals: Refusals
  #openChars = 0
  #isFull = false

  constructor(space: Seat, options: TurnOptions, workload: Workload) {
    this.#space = space
    this.#options = options
    this.#workload = workload
    this.#refusals = new Refusals(space, (error) => {
      if (!isClosing(space, error)) console.error('a message could not be refused:', error)
    })
  }

  /** One after the other: a turn has ended when the next one is asked for. */
  sequence(): AsyncIterableIterator<Turn> {
    return this.#oneByOne(this.#arrivals())
  }

  /** Several at once. Resolves when the space is closed and every turn has ended. */
  async each(handler: (turn: Turn) => Promise<void>, concurrency: number): Promise<void> {
    const running = new Set<Promise<void>>()
    try {
      for await (const turn of this.#arrivals()) {
        const run = this.#handle(turn, handler).finally(() => running.delete(run))
        running.add(run)
        while (running.size >= concurrency) await Promise.race(running)
      }
    } finally {
      await Promise.all(running)
    }
  }

  #arrivals(): AsyncIterableIterator<Turn> {
    return this.#inTime(stream<Turn>(this.#space, (push) => this.#listen(push)))
  }

  /** Whoever is paused could not answer: what is asked meanwhile is taken up after it. */
  async *#inTime(turns: AsyncIterableIterator<Turn>): AsyncGenerator<Turn, void> {
    for await (const turn of turns) {
      await active(this.#space)
      if (this.#workload.isClosed) return
      yield turn
    }
  }

  async *#oneByOne(turns: AsyncIterableIterator<Turn>): AsyncGenerator<Turn, void> {
    for await (const turn of turns) {
      this.#workload.begin(turn)
      try {
        yield turn
      } finally {
        this.#end(turn)
      }
    }
  }

  async #handle(turn: Turn, handler: (turn: Turn) => Promise<void>): Promise<void> {
    this.#workload.begin(turn)
    try {
      await handler(turn)
    } catch (error) {
      if (!isClosing(this.#space, error, turn.signal)) this.#report(error, turn)
    } finally {
      this.#end(turn)
    }
  }

  #end(turn: Turn): void {
    if (this.#open.delete(turn)) this.#count(turn, -1)
    this.#isFull = false
    this.#workload.end(turn)
  }

  #report(error: unknown, turn: Turn): void {
    const { onError = (failure) => console.error('a turn failed:', failure) } = this.#options
    onError(error, turn)
  }

  /** Whether there is room for one more. The developer is told once, until there is. */
  #admit(turn: Turn): boolean {
    if (hasRoom({ turns: this.#open.size, chars: this.#openChars }, turn, 1) && this.#hasShareLeft(turn)) {
      this.#open.add(turn)
      this.#count(turn, 1)
      return true
    }
    this.#refusals.add(turn.trigger)
    if (!this.#isFull) {
      const own = this.#byAsker.get(turn.from)?.turns ?? 0
      const message = `${this.#open.size} turns are open, ${own} of ${turn.from}; messages are refused until one has ended`
      this.#report(new ConnectionError('queue_full', message), turn)
    }
    this.#isFull = true
    return false
  }

  #hasShareLeft(turn: Turn): boolean {
    const own = this.#byAsker.get(turn.from)
    return own === undefined || hasRoom(own, turn, maxShare)
  }

  #count({ from, text }: Turn, by: 1 | -1): void {
    const { turns, chars } = this.#byAsker.get(from) ?? { turns: 0, chars: 0 }
    this.#openChars += by * text.length
    if (turns + by === 0) this.#byAsker.delete(from)
    else this.#byAsker.set(from, { turns: turns + by, chars: chars + by * text.length })
  }

  #listen(push: (turn: Turn) => void): () => void {
    const { trigger = isAsked } = this.#options
    const receive = (envelope: AnyEnvelope): void => {
      if (envelope.kind === Kind.chat && envelope.from !== this.#space.id && trigger(envelope, this.#space)) {
        const turn = new Turn(this.#space, envelope)
        if (!this.#admit(turn)) return
        this.#options.onOpen?.(turn)
        push(turn)
      } else if (envelope.kind === Kind.chatCancel) this.#takeBack(envelope)
    }
    const closed = (): void => {
      this.#refusals.close()
      for (const turn of this.#open) turn.abort('the space was closed')
    }
    this.#space.on('envelope', receive)
    this.#space.on('closed', closed)
    return () => {
      this.#space.off('envelope', receive)
      this.#space.off('closed', closed)
    }
  }

  #takeBack(cancel: EnvelopeOf<typeof Kind.chatCancel>): void {
    const taken = new Set(correlations(cancel))
    for (const turn of this.#open) {
      if (taken.has(turn.trigger.id) && turn.from === cancel.from)
        turn.abort(cancel.payload.reason ?? 'taken back')
    }
  }
}

/** Whether an error says no more than that the connection is over, which the event `closed` tells. */
export function isClosing({ ended }: Pick<Seat, 'ended'>, error: unknown, signal?: AbortSignal): boolean {
  if (ended === undefined) return false
  if (error instanceof ConnectionError) return true
  if (signal?.aborted !== true) return false
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}
