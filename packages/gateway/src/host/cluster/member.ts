import { Kind, omitUndefined, prescan } from '@meup/protocol'
import type { FrameForm, Receipt } from '../../core/admission/admission-context.js'
import { errorFrame } from '../../core/frames.js'
import type { Presence } from '../../core/presence.js'
import type { Announcement } from '../../core/present-elsewhere.js'
import { isRefusal, type Refusal, refuse } from '../../core/refusal.js'
import { texts } from '../../core/refusal-texts.js'
import type { RemoteSequencer, Space, SpaceListener } from '../../core/space.js'
import type { Indexer } from '../../index/indexer.js'
import { type Message, messageFrom, type Sender } from '../../ports/connection.js'
import type { Entry, Heading, Note, Row, SharedLog } from '../../ports/envelope-log.js'

/** The presence that a gateway announces expires after `leaseMs`; it is renewed three times in that time [milliseconds]. */
const [leaseMs, renewMs] = [3000, 1000]

/** Maximum bytes of deltas (parts of unfinished answers) that wait for rows of the log; further ones are dropped. */
const maxHeldBytes = 1024 * 1024

interface SharedSpace {
  readonly space: Space
  readonly presence: Presence
  readonly turns: { readonly indexer: Pick<Indexer, 'prune'> }
}

type Emitted = Parameters<Space['emit']>[0]

/**
 * A space that several gateways have open. One of them sequences it: it admits the frames of all. Each one serves its own
 * connections from the committed log.
 */
export class ClusterMember implements RemoteSequencer, SpaceListener {
  readonly #host: SharedSpace
  readonly #shared: SharedLog<Row>
  readonly #connections = new ConnectionNumbers()
  /**
   * Frames that the sequencing gateway has admitted and not logged yet, by id and in order. If that gateway ends first, they
   * are refused.
   */
  readonly #forwarded = new Map<string, ForwardedFrame>()
  /** The connections of senders whose frames came from other gateways. */
  readonly #places = new WeakMap<Sender, Place>()
  /**
   * Replies and deltas from the sequencing gateway, in order. Each waits until the envelopes that were delivered before it
   * there are delivered here [MEUP-3.15].
   */
  readonly #held: HeldMessage[] = []
  /** Bytes of the deltas in `#held`. */
  #heldBytes = 0
  #isPruning = false
  #cancel = (): void => {}

  constructor(host: SharedSpace, shared: SharedLog<Row>) {
    this.#host = host
    this.#shared = shared
    const { space } = host
    space.elsewhere = this
    shared.listen({
      onRows: (rows) => {
        space.follow(rows)
        this.#settle()
      },
      onLeaderLost: () => space.takeUp(),
      onPruned: (through) => void this.#prune(through),
      onRequest: (note) => this.#onRequest(note),
      onNote: (note) => this.#onNote(note),
    })
    shared.notify('all', { head: { do: 'who' } })
    this.#renew()
  }

  close(): void {
    this.#cancel()
    this.#announce({ people: [], programs: [] })
  }

  recovered(): void {
    this.#settle()
    this.#refuseLost()
  }

  /**
   * Excludes subscriptions, and frames that are too large for the log: those are too large to forward as well, and are refused
   * here.
   */
  isFor(frame: Uint8Array): boolean {
    const { maxFrameBytes = Number.POSITIVE_INFINITY } = this.#host.space.log
    return frame.length <= maxFrameBytes && !isSubscription(frame)
  }

  async submit(sender: Sender, frame: Uint8Array, form: FrameForm = {}): Promise<Receipt | Refusal> {
    const { participant, rateLimitKey, session } = sender
    const head = {
      do: 'submit',
      from: this.#shared.self,
      line: this.#connections.assign(sender),
      participant,
      rateLimitKey,
      session,
      ...form,
      isRequest: sender.isRequest === true,
    }
    try {
      const { outcome, owesMs } = await this.#shared.ask({ head, body: frame })
      const { rates, clock } = this.#host.space
      // The debt is recorded here as well, because reading is paused on this gateway, which has the socket.
      if (typeof owesMs === 'number') rates.owe(rateLimitKey, 'work', owesMs, clock.now())
      const answer = outcome as Receipt | Refusal
      if (!isRefusal(answer) && answer.seq > this.#host.space.delivered) {
        const { id: writtenId = '', kind = '' } = prescan(frame)
        this.#forwarded.set(answer.id, { ...answer, writtenId, kind, sender })
      }
      return answer
    } catch (err) {
      const { space } = this.#host
      space.logger.warn({ space: space.config.name, err }, 'a frame could not be forwarded')
      const { id = '', kind = '' } = prescan(frame)
      return this.#refuse(sender, { id, kind })
    }
  }

  relay({ body, ...entry }: Entry, sender: Sender): void {
    const { seq, id, ts, from, kind, to, correlationId } = entry
    const heading = { seq, id, ts, from, kind, to, correlationId }
    const after = this.#host.space.delivered
    this.#shared.notify('all', {
      head: { do: 'relay', heading, after, place: this.#places.get(sender) },
      body,
    })
  }

  async emit(fields: object): Promise<number> {
    const { seq, refused } = await this.#shared.ask({ head: { do: 'emit', fields } })
    if (typeof seq !== 'number') throw new Error(String(refused))
    return seq
  }

  present(): void {
    const { presence } = this.#host
    this.#announce({ people: [...presence.here()], programs: [...presence.programs()] })
  }

  endProgram(participant: string, session: string, isBye: boolean): void {
    this.present()
    const head = { do: 'end', participant, session, isBye }
    this.#shared.ask({ head }).catch((err) => {
      const { space } = this.#host
      space.logger.warn(
        { space: space.config.name, participant, err },
        'the end of a program could not be announced',
      )
    })
  }

  #announce(announcement: Announcement): void {
    this.#shared.notify('all', { head: { do: 'present', from: this.#shared.self, ...announcement } })
  }

  /** The frame may have been admitted; a retry with the same id finds out [MEUP-1.10]. */
  #refuse(sender: Sender, envelope: { readonly id: string; readonly kind: string }): Refusal {
    const { clock, metrics } = this.#host.space
    const refusal = refuse('unavailable', texts.silentLeader)
    metrics.refused.add(refusal.code)
    const ts = new Date(clock.now()).toISOString()
    sender.reply(messageFrom(errorFrame(sender.participant, ts, refusal, envelope)))
    return refusal
  }

  /** Refuses the frames that the previous sequencer admitted and did not log. */
  #refuseLost(): void {
    const { log } = this.#host.space
    for (const { id, writtenId, kind, sender } of this.#forwarded.values()) {
      if (log.heading(id) === undefined) this.#refuse(sender, { id: writtenId, kind })
    }
    this.#forwarded.clear()
  }

  /**
   * Removes forwarded frames that are delivered here, and sends the held replies and deltas whose preceding envelopes are
   * delivered.
   */
  #settle(): void {
    const { delivered } = this.#host.space
    for (const [id, { seq }] of this.#forwarded) {
      if (seq > delivered) break
      this.#forwarded.delete(id)
    }
    const waiting = this.#held.findIndex(({ after }) => after > delivered)
    const due = this.#held.splice(0, waiting < 0 ? this.#held.length : waiting)
    for (const { say } of due) say()
  }

  /** Prunes the log as the sequencing gateway did [MEUP-10.3]. Skips a pruning that is too early here; it is announced again. */
  async #prune(through: number): Promise<void> {
    const { space, turns } = this.#host
    if (this.#isPruning || through >= space.delivered) return
    this.#isPruning = true
    try {
      await this.#shared.prune()
      turns.indexer.prune(space.log.oldest - 1)
      space.logger.info({ space: space.config.name, through }, 'the log was pruned, as another gateway has')
    } catch (err) {
      space.logger.warn({ space: space.config.name, err }, 'the log could not be pruned; this is tried again')
    } finally {
      this.#isPruning = false
    }
  }

  #renew(): void {
    const { space, presence } = this.#host
    this.#connections.tidy()
    this.present()
    presence.elsewhere.expire(space.clock.now())
    presence.changedElsewhere()
    this.#cancel = space.clock.after(renewMs, () => this.#renew())
  }

  #onRequest({ head, body }: Note): Record<string, unknown> {
    const { space, presence } = this.#host
    if (head.do === 'emit') {
      try {
        return { seq: space.emit(head.fields as Emitted) }
      } catch (error) {
        return { refused: String(error) }
      }
    }
    if (head.do === 'end') {
      const { participant, session } = head as Record<'participant' | 'session', string>
      if (head.isBye === true) presence.sayBye(participant, session)
      else presence.endProgram(participant, session)
      return {}
    }
    const sender = this.#createSender(head)
    const outcome = space.submit(sender, body ?? new Uint8Array(), head as FrameForm)
    const owesMs = space.rates.wait(sender.rateLimitKey, 'work', space.clock.now())
    return { outcome: isRefusal(outcome) ? outcome : { ...outcome }, owesMs }
  }

  /** Represents a sender that is connected to another gateway: sends its replies and echoes to that gateway. */
  #createSender(head: Note['head']): Sender {
    const { from, line, participant, rateLimitKey, session } = head as Record<string, string>
    const say = (what: object, { text }: Message): void =>
      this.#shared.notify(from ?? '', {
        head: { line, after: this.#host.space.delivered, ...what },
        body: text,
      })
    const sender: Sender = {
      participant: participant ?? '',
      rateLimitKey: rateLimitKey ?? '',
      ...omitUndefined({ session }),
      isRequest: head.isRequest === true,
      reply: (message) => say({ do: 'reply' }, message),
      echo: (seq, message) => say({ do: 'echo', seq }, message),
    }
    this.#places.set(sender, { gateway: from ?? '', line })
    return sender
  }

  #holdReply(head: Note['head'], text: Buffer): void {
    const seq = Number(head.seq)
    this.#hold(head, () => {
      const line = this.#connections.find(head.line)
      if (head.do === 'echo') line?.echo(seq, { text, seq })
      else line?.reply({ text })
    })
  }

  /** Offers a delta to the connections here, by the audience that the sender's gateway decided. Drops it if too many wait. */
  #holdDelta(head: Note['head'], body: Buffer): void {
    if (this.#heldBytes + body.length > maxHeldBytes) return
    this.#heldBytes += body.length
    const { gateway, line } = (head.place ?? {}) as Partial<Place>
    this.#hold(head, () => {
      this.#heldBytes -= body.length
      const from = gateway === this.#shared.self ? this.#connections.find(line) : undefined
      this.#host.space.offer({ ...(head.heading as Heading), body }, from)
    })
  }

  #hold(head: Note['head'], say: () => void): void {
    this.#held.push({ after: Number(head.after), say })
    this.#settle()
  }

  #onNote({ head, body }: Note): void {
    const { space, presence } = this.#host
    switch (head.do) {
      case 'who':
        this.present()
        break
      case 'present': {
        const { people, programs } = head as unknown as Announcement
        presence.elsewhere.renew(String(head.from), { people, programs }, space.clock.now() + leaseMs)
        presence.changedElsewhere()
        break
      }
      case 'relay':
        this.#holdDelta(head, Buffer.from(body ?? []))
        break
      case 'reply':
      case 'echo':
        this.#holdReply(head, Buffer.from(body ?? []))
    }
  }
}

/** A subscription changes its own connection only, so the gateway of that connection answers it [MEUP-9.1]. */
const isSubscription = (frame: Uint8Array): boolean =>
  prescan(frame).kind?.replaceAll('/', '.') === Kind.observeSubscribe

type ConnectionHandle = Sender & { readonly closed?: boolean }

/** Numbers for connections, by which another gateway addresses replies. */
class ConnectionNumbers {
  readonly #numbers = new Map<ConnectionHandle, number>()
  readonly #byNumber = new Map<number, ConnectionHandle>()
  #last = 0

  /** 0 = the sender has no lasting connection, so that a reply could not reach it. */
  assign(sender: ConnectionHandle): number {
    if (sender.subscribe === undefined) return 0
    const known = this.#numbers.get(sender)
    if (known !== undefined) return known
    this.#last++
    this.#numbers.set(sender, this.#last)
    this.#byNumber.set(this.#last, sender)
    return this.#last
  }

  find(line: unknown): Sender | undefined {
    return this.#byNumber.get(Number(line))
  }

  /** Forgets the numbers of closed connections. */
  tidy(): void {
    for (const [line, number] of this.#numbers) {
      if (line.closed !== true) continue
      this.#numbers.delete(line)
      this.#byNumber.delete(number)
    }
  }
}

/** A connection by its gateway and its number there. */
interface Place {
  readonly gateway: string
  readonly line: unknown
}

/** A reply of the sequencing gateway to a connection here, or a delta for all. */
interface HeldMessage {
  /** Last seq that the sequencing gateway delivered before this message. */
  readonly after: number
  say(): void
}

/** A frame that another gateway has admitted and not logged yet. */
interface ForwardedFrame {
  readonly id: string
  /** The id that the sender wrote; empty if none. */
  readonly writtenId: string
  readonly kind: string
  readonly seq: number
  readonly sender: Sender
}
