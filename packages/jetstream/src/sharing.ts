import { LogError, type LogListener, type Note, type Row, type SharedLog } from '@meup/gateway'
import type { Subscription } from '@nats-io/transport-node'
import { lastOf } from './batch.js'
import { asNatsError, type Nats } from './connect.js'
import type { Follower } from './follower.js'
import type { Mailbox } from './mailbox.js'
import type { Owners } from './owners.js'
import type { Prunings } from './prunings.js'
import type { Replica } from './replica.js'
import type { SubjectLog } from './subject-log.js'

/** How often whoever follows looks whether it has everything, and whether the other gateway lives. */
const probeMs = 1000
/** Looks between two at what others have pruned, should nobody have told. */
const looksPerPruning = 60
/** Past this it is asked whether the gateway that owes an answer lives [milliseconds]. */
const doubtMs = 250
/** Whoever sequences and has been without a server for so long says so before somebody sends something [milliseconds]. */
const cutOffMs = 5000

interface SharingParts {
  readonly space: string
  readonly nats: Nats
  readonly mailbox: Mailbox
  readonly owners: Owners
  readonly subject: SubjectLog
  readonly replica: Replica
  readonly follower: Follower
  readonly prunings: Prunings
}

/** Who sequences a space, and what others have written of it. */
export class Sharing implements SharedLog<Row> {
  readonly #parts: SharingParts
  /** Carries out one thing after another. */
  #inTurn: (task: () => Promise<void>) => Promise<void> = (task) => task()
  #fence = (): void => {}
  #owner = ''
  #listener: LogListener<Row> | undefined
  #live: Subscription | undefined
  #stopMail = (): void => {}
  #probe: NodeJS.Timeout | undefined
  #looks = 0
  /** What the server said was written, and nobody has looked at yet. */
  #waiting: { readonly at: number; readonly data: Uint8Array }[] = []
  /** How to end each question that another gateway has not answered. */
  readonly #asked = new Set<(error: LogError) => void>()
  #isOver = false

  constructor(parts: SharingParts) {
    this.#parts = parts
  }

  get self(): string {
    return this.#parts.mailbox.self
  }

  get leads(): boolean {
    return this.#owner === this.self
  }

  /** `inTurn` is how the log does one thing after another; `fence` keeps it from writing. */
  join(inTurn: (task: () => Promise<void>) => Promise<void>, fence: () => void): void {
    this.#inTurn = inTurn
    this.#fence = fence
  }

  /** Finds out who sequences; where nobody does, this gateway does from now on. */
  async settle(): Promise<void> {
    const { owners, space } = this.#parts
    this.#owner = await owners.claim(space)
  }

  listen(listener: LogListener<Row>): void {
    const { nats, mailbox, subject, space, follower, replica } = this.#parts
    this.#listener = listener
    replica.onFailure = () => this.#leaderLost()
    follower.onRows = (rows) => {
      if (!this.leads) listener.grown(rows)
    }
    this.#stopMail = mailbox.listen(space, {
      asked: (note) => (this.leads ? listener.asked(note) : { follows: true }),
      told: (note) => {
        if (note.head.do === 'released') this.#leaderLost()
        else if (note.head.do === 'pruned') void this.#lookForPruning()
        else listener.told(note)
      },
    })
    const live = nats.connection.subscribe(subject.place.live)
    this.#live = live
    void this.#receive(live)
    this.#probe = setTimeout(() => void this.#look(), probeMs)
  }

  async ask(note: Note): Promise<Readonly<Record<string, unknown>>> {
    const owner = this.#owner
    let answer: Readonly<Record<string, unknown>>
    try {
      answer = await this.#askOwner(owner, note)
    } catch (error) {
      void this.#suspect(owner)
      throw asNatsError(error, `asking the gateway that sequences ${this.#parts.space}`)
    }
    if (answer.follows !== true) return answer
    this.#leaderLost()
    throw this.#changing()
  }

  prune(): Promise<void> {
    return this.#inTurn(() => this.#parts.follower.prune())
  }

  tell(gateway: string, note: Note): void {
    this.#parts.mailbox.tell(gateway, this.#parts.space, note)
  }

  async close(): Promise<void> {
    const { leads } = this
    this.#isOver = true
    clearTimeout(this.#probe)
    this.#stopMail()
    const { nats, owners, space, mailbox } = this.#parts
    if (nats.connection.isClosed()) return
    this.#live?.unsubscribe()
    if (!leads) return
    await owners.release(space)
    mailbox.tell('all', space, { head: { do: 'released' } })
  }

  async #receive(live: Subscription): Promise<void> {
    for await (const { headers, data } of live) {
      this.#waiting.push({ at: Number(headers?.get('Nats-Sequence')), data })
      if (this.#waiting.length === 1) void this.#inTurn(() => this.#take()).catch(() => this.#leaderLost())
    }
  }

  /** Whatever a gateway that leads has not written itself is of one that leads as well. */
  async #take(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    const { follower, replica, subject } = this.#parts
    // Whose message is no batch is told by whoever reads the stream.
    if (!this.leads) for (const { at, data } of waiting) await follower.take(subject.stored(at, data))
    else if (
      waiting.some(
        ({ at, data }) => !(at <= follower.position) && lastOf(subject.stored(at, data).head) > replica.head,
      )
    ) {
      this.#fence()
      this.#leaderLost()
    }
  }

  async #look(): Promise<void> {
    const { mailbox, follower, nats } = this.#parts
    const { awaySince = Infinity } = nats.contact
    if (this.leads && performance.now() - awaySince > cutOffMs) this.#leaderLost()
    if (!this.leads && !this.#isOver) {
      try {
        // What was just written waits for this only where something was missed.
        if (!(await follower.isCurrent())) {
          await this.#inTurn(async () => {
            if (!this.leads) await follower.catchUp()
          })
        }
        const owner = this.#owner
        if (!this.leads && !(await mailbox.lives(owner))) this.#leaderLost()
        if (this.#looks++ % looksPerPruning === 0) await this.#lookForPruning()
      } catch {
        this.#leaderLost() // Recovering the log reports why it cannot be read.
      }
    }
    if (!this.#isOver) this.#probe = setTimeout(() => void this.#look(), probeMs)
  }

  /** Does not wait for the answer of a gateway that is found to be gone. */
  #askOwner(owner: string, note: Note): ReturnType<Mailbox['ask']> {
    const { mailbox, space } = this.#parts
    return new Promise((resolve, reject) => {
      const doubt = setTimeout(() => void this.#suspect(owner), doubtMs)
      const end = (): void => {
        clearTimeout(doubt)
        this.#asked.delete(reject)
      }
      this.#asked.add(reject)
      mailbox.ask(owner, space, note).then(resolve, reject).finally(end)
    })
  }

  async #lookForPruning(): Promise<void> {
    if (this.leads || this.#isOver) return
    const { prunings, replica } = this.#parts
    try {
      const through = await prunings.through()
      if (through > replica.pruned) this.#listener?.pruned(through)
    } catch {
      // It is looked for again.
    }
  }

  async #suspect(owner: string): Promise<void> {
    if (!(await this.#parts.mailbox.lives(owner)) && owner === this.#owner) this.#leaderLost()
  }

  #leaderLost(): void {
    for (const end of this.#asked) end(this.#changing())
    this.#asked.clear()
    if (!this.#isOver) this.#listener?.leaderLost()
  }

  #changing(): LogError {
    return new LogError('unavailable', `The space ${this.#parts.space} changes hands. It is tried again.`)
  }
}
