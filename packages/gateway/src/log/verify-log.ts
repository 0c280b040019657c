import type { EnvelopeLog } from '../ports/envelope-log.js'
import { beginningOf, leafOf, link } from './chain.js'
import { nextTurn, walk } from './walk.js'

/** Whether the chain of a log holds [MEUP-10.1]. */
export interface Verification {
  readonly ok: boolean
  readonly epoch: string
  /** The last seq when it began. What came later is not looked at. */
  readonly head: number
  /** Hexadecimal, of the last row that holds: with `ok`, of the head. */
  readonly hash: string
  /** Rows that hold, from the oldest on. */
  readonly checked: number
  /** Seq of the first row that is missing, or is not what was chained. */
  readonly brokenAt?: number
  /** What is older than this seq has been pruned. */
  readonly prunedBefore?: number
}

const underWay = new WeakMap<EnvelopeLog, Promise<Verification>>()

/**
 * Computes the chain of all rows that are kept anew. Of each log there is one verification at a time: whoever asks
 * meanwhile gets its result. Rejects with a `LogError` where the log cannot be read.
 */
export function verifyLog(log: EnvelopeLog): Promise<Verification> {
  const running = underWay.get(log)
  if (running !== undefined) return running
  const verification = verify(log).finally(() => underWay.delete(log))
  underWay.set(log, verification)
  return verification
}

async function verify(log: EnvelopeLog): Promise<Verification> {
  const { epoch, head } = log
  const beginning = beginningOf(log)
  let [last, hash] = [beginning.through, beginning.hash]
  for await (const row of walk(log, last, head)) {
    const leaf = leafOf(row.salt, row.body)
    const expected = link(hash, row.seq, leaf)
    if (!leaf.equals(row.leaf) || !expected.equals(row.hash)) break
    ;[last, hash] = [row.seq, expected]
  }
  if (last < head) {
    await nextTurn() // A pruning that took the row away is known by then.
    if (log.oldest > last + 1) return verify(log)
  }
  return {
    ok: last === head,
    epoch,
    head,
    hash: Buffer.from(hash).toString('hex'),
    checked: last - beginning.through,
    ...(last < head && { brokenAt: last + 1 }),
    ...(beginning.through > 0 && { prunedBefore: beginning.through + 1 }),
  }
}
