import { correlations, type Envelope, Kind } from '@meup/protocol'
import { sourceOf } from '../source.js'
import { messageOf } from '../text.js'
import { moveOn } from './decisions.js'
import type { Ledger } from './ledger.js'
import { abandon, answer, takeBack } from './outcome.js'

/** A chat in the main conversation that answers something is the answer of a turn; any chat may be answered. */
export function chat(ledger: Ledger, envelope: Envelope): void {
  const text = messageOf(envelope.payload)
  ledger.offer(envelope, text)
  if (envelope.context !== undefined) return
  const turn = ledger.turnAnswering(envelope)
  if (turn === undefined) return
  moveOn(turn)
  ledger.touch(turn)
  if (turn.inputSource === Kind.mcpRequest) return // It is answered by a response.
  answer(turn, { source: sourceOf(envelope), text }, 'completed', ledger.now)
}

/** The asker takes a chat back. */
export function chatCancel(ledger: Ledger, envelope: Envelope): void {
  takeTurnsBack(ledger, correlations(envelope), envelope.from, envelope.payload.reason)
}

/** Ends the turns that these triggers began, as far as they are the sender's. */
export function takeTurnsBack(
  ledger: Ledger,
  triggers: readonly string[],
  asker: string,
  reason: unknown,
): void {
  for (const turn of [...ledger.open()]) {
    const source = turn.trigger?.source
    if (source?.from !== asker || !triggers.includes(source.id)) continue
    takeBack(turn, typeof reason === 'string' ? reason : null, ledger.now)
    abandon(ledger, turn, () => true)
  }
}
