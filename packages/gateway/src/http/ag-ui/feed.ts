import type { AGUIEvent } from '@ag-ui/core'
import type { Envelope } from '@meup/protocol'
import type { Message, OutboundBatch } from '../../core/delivery/outbound-batch.js'
import type { Feed } from '../../ports/connection.js'
import type { SseFeed } from '../sse-feed.js'
import type { Fare } from './fare.js'
import type { Run } from './run.js'

/** Who owes more milliseconds of work than this follows no further. */
const maxDebtMs = 5000

/** Puts the events of a run where envelopes would go in a stream of events, and ends the stream with the run. */
export class RunFeed implements Feed {
  readonly #run: Run
  readonly #events: SseFeed
  readonly #fare: Pick<Fare, 'settle'>
  #owesMs = 0

  constructor(run: Run, events: SseFeed, fare: Pick<Fare, 'settle'>) {
    this.#run = run
    this.#events = events
    this.#fare = fare
    this.#tell(run.begin())
  }

  get remote(): string {
    return this.#events.remote
  }

  get pending(): number {
    return this.#events.pending
  }

  get isGone(): boolean {
    return this.#events.isGone
  }

  drained(): Promise<void> {
    return this.#events.drained()
  }

  /** What is in the log already; `pause` comes when that was all. */
  replay(messages: readonly Message[]): void {
    this.#tell(this.#eventsOf(messages))
  }

  pause(): void {
    this.#tell(this.#run.pause())
  }

  send({ messages }: OutboundBatch): void {
    this.#tell([...this.#eventsOf(messages), ...this.#run.pause()])
    // What comes live cannot wait until it is paid.
    if (this.#owesMs > maxDebtMs) {
      this.fail('rate_limited', 'over the rate for work: too much is said here; send the same message later')
    }
  }

  lost(): void {
    this.fail('lost', 'the log is not the one in which this was asked; ask again')
  }

  close(code: number, reason: string): void {
    this.fail(`${code}`, reason)
  }

  fail(code: string, message: string): void {
    this.#tell(this.#run.fail(code, message))
  }

  /** A welcome or an error is nothing to an agent's turn. */
  #eventsOf(messages: readonly Message[]): AGUIEvent[] {
    return messages
      .filter(({ seq }) => seq !== undefined)
      .flatMap(({ text }) => {
        const events = this.#run.apply(JSON.parse(Buffer.from(text).toString()) as Envelope)
        this.#owesMs = this.#fare.settle(text.length)
        return events
      })
  }

  #tell(events: readonly AGUIEvent[]): void {
    if (events.length === 0) return
    const event = Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))
    if (this.#run.isOver) this.#events.end(event)
    else this.#events.send({ messages: [], event })
  }
}
