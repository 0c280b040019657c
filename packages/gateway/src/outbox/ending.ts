import { type BatchEnd, type MayRead, everything as mayReadAll, reasoningEvent } from '@meup/views'
import type { Session } from '../space/session.js'
import type { Source } from './backfill.js'
import type { Message } from './parcel.js'
import { readingOf } from './reading.js'

/** A batch of calls that has ended, on its way to the feeds [MEUP-11.11]. */
export class Ending {
  /** Of the envelope that ended it. */
  readonly seq: number
  /** Whether all who are told are told the same. */
  readonly isForAll: boolean
  readonly #end: BatchEnd
  readonly #source: Pick<Source, 'audienceOf'>
  #shared: { readonly message: Message | undefined } | undefined

  constructor(end: BatchEnd, source: Pick<Source, 'audienceOf'>) {
    const { seq, turn, narrative } = end
    this.seq = seq
    this.#end = end
    this.#source = source
    const said = [...turn.decisions, ...(narrative ? [narrative] : [])]
    this.isForAll = said.every((each) => source.audienceOf(each.source) === undefined)
  }

  /** What a feed is told: nothing where it may read, or has asked for, none of the calls. */
  messageFor(session: Session): Message | undefined {
    const mayRead = this.isForAll ? mayReadAll : readingOf(session, this.#source)
    const { agent } = this.#end.turn
    const isAsked: MayRead = (said) => session.selection.includesCall({ ...said, from: agent })
    if (reasoningEvent(this.#end, mayRead, isAsked) === undefined) return undefined
    if (!this.isForAll) return this.#make(mayRead)
    this.#shared ??= { message: this.#make(mayRead) }
    return this.#shared.message
  }

  #make(mayRead: MayRead): Message | undefined {
    const event = reasoningEvent(this.#end, mayRead)
    return event && { text: Buffer.from(JSON.stringify(event)), seq: this.seq, name: event.type }
  }
}
