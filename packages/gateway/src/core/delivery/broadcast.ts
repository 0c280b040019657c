import { isPhase } from '@meup/folds'
import { isThought, type Phase } from '@meup/protocol'
import { parseEnvelope } from '../../log/entries.js'
import { createLoggedMessage, type Message, type OutboundBatch, type Sender } from '../../ports/connection.js'
import type { Entry } from '../../ports/envelope-log.js'
import { type Audience, mayAllRead, mayRead } from '../may-read.js'
import type { Session } from './session.js'

/** A logged entry with its audience and its frame, both computed once for all readers. */
export class Delivery {
  #message: Message | undefined
  /** `null`: the envelope has no phase. */
  #phase: Phase | null | undefined

  constructor(
    readonly entry: Entry,
    readonly audience: Audience,
  ) {}

  get message(): Message {
    this.#message ??= createLoggedMessage(this.entry)
    return this.#message
  }

  /** The phase of a thought, if it has one. */
  get phase(): Phase | undefined {
    if (this.#phase === undefined) {
      const { phase } = parseEnvelope(this.entry).payload
      this.#phase = isPhase(phase) ? phase : null
    }
    return this.#phase ?? undefined
  }
}

/**
 * The messages of a batch for all sessions of a group, except those of the participants in `exceptions`, which get different
 * ones.
 */
interface Cut {
  readonly outboundBatch: OutboundBatch
  readonly suppressed: { envelopes: number; bytes: number }
  readonly exceptions: ReadonlySet<string>
}

/** Deliveries that are sent together. The messages of a group are built once for all of its sessions. */
export class Batch {
  readonly #deliveries: readonly Delivery[]
  readonly #cuts = new Map<string, Cut>()

  constructor(deliveries: readonly Delivery[]) {
    this.#deliveries = deliveries
  }

  /** Sends a session the deliveries of this batch that it has not received yet. */
  serve(session: Session): void {
    const deliveries = this.#deliveries
    const [first, last] = [deliveries[0], deliveries.at(-1)]
    if (first === undefined || last === undefined || session.position >= last.entry.seq) return
    const { group } = session
    if (session.summaries !== undefined) {
      deliver(deliveries, session)
      return
    }
    let cut = this.#cuts.get(group)
    if (cut === undefined) {
      cut = cutFor(session, deliveries)
      this.#cuts.set(group, cut)
    }
    if (session.position >= first.entry.seq || cut.exceptions.has(session.participant)) {
      deliver(deliveries, session)
      return
    }
    session.position = last.entry.seq
    if (cut.outboundBatch.messages.length > 0) session.send(cut.outboundBatch)
    if (cut.suppressed.envelopes > 0) session.suppress(cut.suppressed.envelopes, cut.suppressed.bytes)
  }
}

/** Sends a committed batch to every live session. */
export function broadcast(
  batch: readonly Delivery[],
  sessions: Iterable<Session>,
  isServed: (session: Session) => boolean = isLive,
): void {
  if (batch.length === 0) return
  const whole = new Batch(batch)
  for (const session of sessions) if (isServed(session)) whole.serve(session)
}

/** An entry that is relayed and not logged, such as a delta; its seq is 0 [MEUP-3.25]. */
export class Relayed {
  readonly #entry: Entry
  readonly #audience: Audience
  readonly #from: Sender | undefined
  readonly #outboundBatch: OutboundBatch

  /** `from`: the sender, which does not receive the entry. */
  constructor(entry: Entry, audience: Audience, from: Sender | undefined) {
    this.#entry = entry
    this.#audience = audience
    this.#from = from
    this.#outboundBatch = { messages: [{ text: entry.body, name: 'delta' }] }
  }

  get bytes(): number {
    return this.#entry.body.length
  }

  /**
   * Sends the entry to a session that may read it and has subscribed to it; counts it as suppressed if only the subscription
   * excludes it.
   */
  offer(session: Session): void {
    if (session === this.#from || !mayRead(session, this.#audience)) return
    if (!session.selection.includes(this.#entry)) return
    if (session.subscription.wantsLive(this.#entry.kind)) session.offer(this.#outboundBatch, this.bytes)
    else session.suppress(1, this.bytes)
  }
}

const isLive = ({ live }: Session): boolean => live

/** Sends a batch to one session envelope by envelope, because the messages built for its group (`Cut`) do not fit it. */
function deliver(batch: readonly Delivery[], session: Session): void {
  const messages: Message[] = []
  const { summaries } = session
  /** Time of the last readable entry: unreadable ones must not influence when a summary is sent. */
  let ts: string | undefined
  for (const delivery of batch) {
    const { entry, audience } = delivery
    if (entry.seq <= session.position || !mayRead(session, audience)) continue
    if (!session.selection.includes(entry)) continue
    ts = entry.ts
    if (isOwn(entry, session.participant) || session.subscription.passes(entry)) {
      if (summaries !== undefined) messages.push(...session.summarizeBefore(entry))
      messages.push(delivery.message)
      continue
    }
    session.suppress(1, entry.body.length)
    if (summaries !== undefined && entry.context !== undefined && isThought(entry.kind))
      summaries.count(entry.context, entry.ts, delivery.phase)
  }
  session.position = Math.max(session.position, batch.at(-1)?.entry.seq ?? 0)
  if (summaries !== undefined && ts !== undefined) messages.push(...session.summarizeAt(ts))
  if (messages.length > 0) session.send({ messages })
}

function cutFor(session: Session, batch: readonly Delivery[]): Cut {
  const { selection, subscription } = session
  const messages: Message[] = []
  const exceptions = new Set<string>()
  const suppressed = { envelopes: 0, bytes: 0 }
  for (const delivery of batch) {
    const { entry, audience } = delivery
    if (!selection.includes(entry)) continue
    if (!mayAllRead(session, audience)) {
      for (const participant of audience?.participants ?? []) exceptions.add(participant)
    } else if (subscription.passes(entry)) {
      messages.push(delivery.message)
    } else {
      suppressed.envelopes++
      suppressed.bytes += entry.body.length
      for (const participant of [entry.from, ...(entry.to ?? [])]) exceptions.add(participant)
    }
  }
  return { outboundBatch: { messages }, suppressed, exceptions }
}

/** Envelopes that no subscription filters out: the sender's own, and those addressed to the reader [MEUP-8.3]. */
const isOwn = ({ from, to }: Entry, participant: string): boolean =>
  from === participant || (to?.includes(participant) ?? false)
