import { LogError, type LogListener, type Note, type Row, type SharedLog } from '@meup/gateway'
import type { Subscription } from '@nats-io/transport-node'
import { getLastSeq } from './batch.js'
import type { Nats } from './connect.js'
import { streamTexts } from './errors.js'
import type { Follower } from './follower.js'
import type { Mailbox } from './mailbox.js'
import { asNatsError } from './nats-error.js'
import type { Owners } from './owners.js'
import type { Prunings } from './prunings.js'
import type { Replica } from './replica.js'
import type { SubjectLog } from './subject-log.js'

/**
 * Interval of the checks by which a following gateway finds out whether its replica lacks rows, and whether the leader is
 * alive.
 */
const probeMs = 1000
/** Number of these checks until a follower reads whether the leader has pruned the log, in case the announcement was lost. */
const checksPerPruning = 60
/** Milliseconds without an answer to a request, after which a follower checks whether the leader is alive. */
const slowAnswerMs = 250
/** Milliseconds without a NATS server after which a leader steps down, without waiting for a failed write. */
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

/**
 * Determines which gateway is the leader of a space, which assigns the seqs and writes the log, and exchanges messages with the
 * others.
 */
export class Sharing implements SharedLog<Row> {
  readonly #parts: SharingParts
  /** Runs a task: at once or, after `join`, when the log's earlier writes have ended. */
  #inTurn: (task: () => Promise<void>) => Promise<void> = (task) => task()
  #fence = (): void => {}
  #owner = ''
  #listener: LogListener<Row> | undefined
  #live: Subscription | undefined
  #stopMail = (): void => {}
  #probe: NodeJS.Timeout | undefined
  #checks = 0
  /** Received messages of the stream, with their sequence (`at`), that are not handled yet. */
  #waiting: { readonly at: number; readonly data: Uint8Array }[] = []
  /** One function for each request that the leader has not answered; it rejects the request if the leader is lost. */
  readonly #pendingRequests = new Set<(error: LogError) => void>()
  #isClosed = false

  constructor(parts: SharingParts) {
    this.#parts = parts
  }

  get self(): string {
    return this.#parts.mailbox.self
  }

  get leads(): boolean {
    return this.#owner === this.self
  }

  /** `inTurn` runs a task after the log's own writes; `fence` makes the log refuse appends. */
  join(inTurn: (task: () => Promise<void>) => Promise<void>, fence: () => void): void {
    this.#inTurn = inTurn
    this.#fence = fence
  }

  /** Finds the leader; if there is none, this gateway becomes it. */
  async settle(): Promise<void> {
    const { owners, space } = this.#parts
    this.#owner = await owners.claim(space)
  }

  listen(listener: LogListener<Row>): void {
    const { nats, mailbox, subject, space, follower, replica } = this.#parts
    this.#listener = listener
    replica.onFailure = () => this.#leaderLost()
    follower.onRows = (rows) => {
      if (!this.leads) listener.onRows(rows)
    }
    this.#stopMail = mailbox.listen(space, {
      onRequest: (note) => (this.leads ? listener.onRequest(note) : { follows: true }),
      onNote: (note) => {
        if (note.head.do === 'released') this.#leaderLost()
        else if (note.head.do === 'pruned') this.#run(this.#lookForPruning())
        else listener.onNote(note)
      },
    })
    const live = nats.connection.subscribe(subject.place.live)
    this.#live = live
    this.#run(this.#receive(live))
    this.#probe = setTimeout(() => this.#run(this.#check()), probeMs)
  }

  async ask(note: Note): Promise<Readonly<Record<string, unknown>>> {
    const owner = this.#owner
    let answer: Readonly<Record<string, unknown>>
    try {
      answer = await this.#askOwner(owner, note)
    } catch (error) {
      this.#run(this.#suspect(owner))
      throw asNatsError(error, `asking the gateway that sequences ${this.#parts.space}`)
    }
    if (answer.follows !== true) return answer
    this.#leaderLost()
    throw this.#changing()
  }

  prune(): Promise<void> {
    return this.#inTurn(() => this.#parts.follower.prune())
  }

  notify(gateway: string, note: Note): void {
    this.#parts.mailbox.notify(gateway, this.#parts.space, note)
  }

  async close(): Promise<void> {
    const { leads } = this
    this.#isClosed = true
    clearTimeout(this.#probe)
    this.#stopMail()
    const { nats, owners, space, mailbox } = this.#parts
    if (nats.connection.isClosed()) return
    this.#live?.unsubscribe()
    if (!leads) return
    await owners.release(space)
    mailbox.notify('all', space, { head: { do: 'released' } })
  }

  async #receive(live: Subscription): Promise<void> {
    for await (const { headers, data } of live) {
      this.#waiting.push({ at: Number(headers?.get('Nats-Sequence')), data })
      if (this.#waiting.length === 1) this.#run(this.#inTurn(() => this.#onLive()))
    }
  }

  /** Handles the received messages. A leader that receives another gateway's message has been replaced. */
  async #onLive(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    const { follower, replica, subject } = this.#parts
    // Throws for an invalid batch: the log then has to be recovered, and recovering it reports the batch.
    if (!this.leads) for (const { at, data } of waiting) await follower.onBatch(subject.stored(at, data))
    else if (
      waiting.some(
        ({ at, data }) =>
          !(at <= follower.position) && getLastSeq(subject.stored(at, data).head) > replica.head,
      )
    ) {
      this.#fence()
      this.#leaderLost()
    }
  }

  async #check(): Promise<void> {
    const { mailbox, follower, nats } = this.#parts
    const { awaySince = Infinity } = nats.contact
    if (this.leads && performance.now() - awaySince > cutOffMs) this.#leaderLost()
    if (!this.leads && !this.#isClosed) {
      try {
        // Does not check within `inTurn`: other tasks wait only for `catchUp`, which runs if a message was missed.
        if (!(await follower.isCurrent())) {
          await this.#inTurn(async () => {
            if (!this.leads) await follower.catchUp()
          })
        }
        const owner = this.#owner
        if (!this.leads && !(await mailbox.isAlive(owner))) this.#leaderLost()
        if (this.#checks++ % checksPerPruning === 0) await this.#lookForPruning()
      } catch {
        this.#leaderLost() // Recovering the log reports why it is unreadable.
      }
    }
    if (!this.#isClosed) this.#probe = setTimeout(() => this.#run(this.#check()), probeMs)
  }

  /** Sends a request to the leader; rejects as soon as the leader is found to be gone. */
  #askOwner(owner: string, note: Note): ReturnType<Mailbox['ask']> {
    const { mailbox, space } = this.#parts
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#run(this.#suspect(owner)), slowAnswerMs)
      const end = (): void => {
        clearTimeout(timer)
        this.#pendingRequests.delete(reject)
      }
      this.#pendingRequests.add(reject)
      mailbox.ask(owner, space, note).then(resolve, reject).finally(end)
    })
  }

  async #lookForPruning(): Promise<void> {
    if (this.leads || this.#isClosed) return
    const { prunings, replica } = this.#parts
    try {
      const through = await prunings.through()
      if (through > replica.pruned) this.#listener?.onPruned(through)
    } catch {
      // The next search for a pruning tries again.
    }
  }

  async #suspect(owner: string): Promise<void> {
    if (!(await this.#parts.mailbox.isAlive(owner)) && owner === this.#owner) this.#leaderLost()
  }

  /**
   * Logs a failure, and treats the leader as lost: the log is then recovered, which finds the leader again, or reports why the
   * stream is unreadable.
   */
  #run(task: Promise<void>): void {
    task.catch((err: unknown) => {
      this.#parts.nats.logger.warn({ space: this.#parts.space, err }, 'the leader cannot be watched')
      this.#leaderLost()
    })
  }

  #leaderLost(): void {
    for (const end of this.#pendingRequests) end(this.#changing())
    this.#pendingRequests.clear()
    if (!this.#isClosed) this.#listener?.onLeaderLost()
  }
  #changing(): LogError {
    return new LogError('unavailable', streamTexts.handover, { space: this.#parts.space })
  }
}
