import { type EnvelopeLog, LogError, type LogStore, memoryStore } from '@meup/gateway'
import type { DraftEntry, LogListener, Note, Row } from '../src/ports/envelope-log.js'

interface Member {
  readonly name: string
  listener: LogListener<Row> | undefined
  isAlive: boolean
}

/** A memory log that several gateways share. Messages between them arrive, unless one of them was killed. */
export class SharedMemory {
  readonly #inner = memoryStore()
  readonly #members: Member[] = []
  #leader: Member | undefined

  /** Reads the log from outside of the gateways. */
  read = async (): Promise<Row[]> => {
    const log = await this.#inner.open('test')
    return log.read({ after: 0, limit: 1_000_000 })
  }

  /** A store for one more gateway. The first gateway is the leader, which alone appends to the log, until it is killed. */
  join(name: string): LogStore {
    const member: Member = { name, listener: undefined, isAlive: true }
    this.#members.push(member)
    if (this.#members.length === 1) this.#leader = member
    const open = async (space: string): Promise<EnvelopeLog> =>
      this.#logOf(member, await this.#inner.open(space))
    return { open, close: async () => {} }
  }

  get isLed(): boolean {
    return this.#leader !== undefined
  }

  /** Ends a gateway without notice. */
  kill(name: string): void {
    const dead = this.#members.find((each) => each.name === name)
    if (dead === undefined) return
    dead.isAlive = false
    if (this.#leader === dead) this.#leader = undefined
  }

  /** Makes a living gateway the leader if the leader was killed. Returns whether the leader has changed. */
  elect(): boolean {
    if (this.#leader !== undefined) return false
    this.#leader = this.#members.find(({ isAlive }) => isAlive)
    for (const { listener, isAlive } of this.#members) if (isAlive) listener?.onLeaderLost()
    return true
  }

  #others(member: Member): Member[] {
    return this.#members.filter((each) => each !== member && each.isAlive)
  }

  #logOf(member: Member, log: EnvelopeLog): EnvelopeLog {
    const leads = (): boolean => this.#leader === member
    const append = async (batch: readonly DraftEntry[]): Promise<void> => {
      if (!leads()) throw new LogError('unavailable', 'another gateway sequences', {})
      const after = log.head
      await log.append(batch)
      const rows = await log.read({ after, limit: batch.length })
      for (const { listener } of this.#others(member)) listener?.onRows(rows)
    }
    const recover = async (): Promise<void> => {
      if (!member.isAlive) throw new LogError('unavailable', 'this gateway is gone', {})
    }
    const shared = {
      get leads() {
        return leads()
      },
      self: member.name,
      listen: (listener: LogListener<Row>) => {
        member.listener = listener
      },
      prune: async () => {},
      ask: async (note: Note) => {
        const { listener } = this.#leader ?? {}
        if (!member.isAlive || listener === undefined)
          throw new LogError('unavailable', 'nobody sequences', {})
        return listener.onRequest(note)
      },
      notify: (to: string, note: Note) => {
        if (!member.isAlive) return
        for (const each of this.#others(member)) {
          if (to === 'all' || to === each.name) each.listener?.onNote(note)
        }
      },
    }
    return Object.assign(Object.create(log) as EnvelopeLog, { append, recover, shared })
  }
}
