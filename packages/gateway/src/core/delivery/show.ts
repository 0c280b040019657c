import { broadcast, type Delivery } from './broadcast.js'
import type { Ending } from './ending.js'
import { mayRead } from './may-read.js'
import type { Message, OutboundBatch } from './outbound-batch.js'
import type { Session } from './session.js'

/** Shows feeds a part of the log, and after each envelope what it ended [MEUP-11.11]. */
export function show(
  batch: readonly Delivery[],
  endings: readonly Ending[],
  sessions: Iterable<Session>,
): void {
  const ended = new Map<number, Ending[]>()
  for (const ending of endings) ended.set(ending.seq, [...(ended.get(ending.seq) ?? []), ending])
  let plain: Delivery[] = []
  for (const delivery of batch) {
    const here = ended.get(delivery.entry.seq)
    if (here === undefined) {
      plain.push(delivery)
      continue
    }
    broadcast(plain, sessions, isAnyone)
    showWithEndings(delivery, here, sessions)
    plain = []
  }
  broadcast(plain, sessions, isAnyone)
}

/** Tells a feed, which has the envelope, what came after its first `told` endings. */
export function showRest(endings: readonly Ending[], told: number, session: Session): void {
  const all = endings.flatMap((ending) => ending.messageFor(session) ?? [])
  const rest = all.map((message, index) => (index < told ? undefined : message))
  const messages = inPlace([undefined, ...rest])
  if (messages.length > 0) session.send({ messages })
}

const isAnyone = (): boolean => true

function showWithEndings(delivery: Delivery, endings: readonly Ending[], sessions: Iterable<Session>): void {
  const { entry, audience } = delivery
  const isForAll = audience === undefined && endings.every((ending) => ending.isForAll)
  const parcels = new Map<string, OutboundBatch>()
  for (const session of sessions) {
    if (session.position >= entry.seq) continue
    const outboundBatch = parcels.get(session.group) ?? parcelFor(session, delivery, endings)
    if (isForAll) parcels.set(session.group, outboundBatch)
    session.position = entry.seq
    if (outboundBatch.messages.length > 0) session.send(outboundBatch)
  }
}

function parcelFor(
  session: Session,
  { entry, audience, message }: Delivery,
  endings: readonly Ending[],
): OutboundBatch {
  const isShown = mayRead(session, audience) && session.selection.includes(entry)
  const messages = endings.flatMap((ending) => ending.messageFor(session) ?? [])
  return { messages: inPlace([isShown ? message : undefined, ...messages]) }
}

/**
 * An envelope and what it ended have one seq, which stands for all of them: whoever resumes after it has got everything.
 * The id of each but the last tells its place among them as well, so that a cut between them loses and repeats nothing.
 */
function inPlace(messages: readonly (Message | undefined)[]): Message[] {
  const last = messages.findLast((message) => message !== undefined)
  return messages.flatMap((message, place) => {
    if (message === undefined || message === last) return message ?? []
    const { text, seq, name } = message
    return { text, ...(seq !== undefined && { seq }), ...(name && { name }), id: `${seq}.${place}` }
  })
}
