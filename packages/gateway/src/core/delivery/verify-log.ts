import { type Erasure, exportLine, Kind } from '@meup/protocol'
import { getChainStart } from '../../log/chain.js'
import { ChainVerifier, type Column } from '../../log/chain-verifier.js'
import { readErasure } from '../../log/entries.js'
import { LogError, logTexts } from '../../log/error.js'
import type { EnvelopeLog, Row } from '../../ports/envelope-log.js'
import type { Reader } from '../may-read.js'
import { yieldNow } from '../yielding.js'
import type { RowSource } from './backfill.js'
import type { LogReader, LogReads } from './log-reads.js'

/** The result of verifying the hash chain of a log [MEUP-10.1]. */
export interface Verification {
  readonly ok: boolean
  readonly epoch: string
  /** The last seq when verification began; later rows are not checked. */
  readonly head: number
  /** Hexadecimal hash of the last valid row; with `ok`, of the head. */
  readonly hash: string
  /** Number of valid rows, from the oldest on. */
  readonly checked: number
  /** Seq of the first row that is missing or does not match its hash. */
  readonly brokenAt?: number
  /** The column of the row `brokenAt` that differs from the body of the row. Delivery relies on columns. */
  readonly column?: Column
  /** Rows before this seq were pruned. */
  readonly prunedBefore?: number
  /** The latest records of erasures [MEUP-10.11]. */
  readonly erased?: readonly Erasure[]
}

interface Verified {
  readonly log: EnvelopeLog
  readonly reads: LogReads
}

interface Running {
  readonly askers: LogReader[]
  readonly result: Promise<Verification | undefined>
}

const underWay = new WeakMap<EnvelopeLog, Running>()

/**
 * Recomputes the chain of all kept rows. A log has one verification at a time: callers during it share the result, and it stops
 * with `undefined` when all of them have disconnected. Rejects with a `LogError` if the log cannot be read.
 */
export function verifyLog(source: Verified, asker: LogReader): Promise<Verification | undefined> {
  const { log } = source
  const running = underWay.get(log)
  if (running?.askers.some((each) => !each.isGone())) {
    running.askers.push(asker)
    return running.result
  }
  const askers = [asker]
  const result = verify(source, payingFor(askers)).finally(() => {
    if (underWay.get(log)?.result === result) underWay.delete(log)
  })
  underWay.set(log, { askers, result })
  return result
}

/** The reader whose rate a shared verification is charged to: the first caller that is still connected. */
function payingFor(askers: readonly LogReader[]): LogReader {
  const present = (): LogReader | undefined => askers.find((each) => !each.isGone())
  return {
    get rateLimitKey() {
      return present()?.rateLimitKey ?? askers[0]?.rateLimitKey ?? ''
    },
    isGone: () => present() === undefined,
  }
}

async function verify(source: Verified, reader: LogReader): Promise<Verification | undefined> {
  const { log } = source
  const { epoch, head } = log
  const beginning = getChainStart(log)
  const chain = new ChainVerifier(beginning)
  for await (const row of readable(source, reader, { after: chain.last, head })) if (!chain.add(row)) break
  if (reader.isGone()) return undefined
  if (chain.last < head) {
    await yieldNow() // A concurrent pruning of this row is recorded by now.
    if (log.oldest > chain.last + 1) return verify(source, reader)
  }
  // If a row was erased during the verification, its erasure record is after the head. Without that record the row counts as
  // damaged.
  if (chain.unrecorded !== undefined)
    for (const row of await recordsAfter(chain.last, log)) chain.note(readErasure(row))
  const { unrecorded, column, erasures } = chain
  const { last, hash } = unrecorded ? { last: unrecorded.seq - 1, hash: unrecorded.hash } : chain
  return {
    ok: last === head,
    epoch,
    head,
    hash: hex(hash),
    checked: last - beginning.through,
    ...(last < head && { brokenAt: last + 1 }),
    ...(column !== undefined && unrecorded === undefined && { column }),
    ...(beginning.through > 0 && { prunedBefore: beginning.through + 1 }),
    ...(erasures.length > 0 && { erased: erasures }),
  }
}

const recordsAfter = (seq: number, log: EnvelopeLog): Promise<Row[]> =>
  log.read({ after: seq, limit: 1000, filter: { kinds: [Kind.systemSpace] } })

/** The rows up to the first whose columns are not valid JSON. */
async function* readable(
  source: Verified,
  reader: LogReader,
  { after, head }: { readonly after: number; readonly head: number },
): AsyncGenerator<Row, void> {
  const { log, reads } = source
  let last = after
  try {
    for await (const row of reads.rows(reader, after, head)) {
      yield row
      last = row.seq
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    const [next] = await log.read({ after: last, limit: 1 }).catch((reason: unknown) => {
      if (!isDamage(reason)) throw reason
      return []
    })
    if (next === undefined) return
    yield next
    yield* readable(source, reader, { after: next.seq, head })
  }
}

const isDamage = (error: unknown): boolean => error instanceof LogError && error.code === 'corrupt'

/**
 * Exports the log as lines [MEUP-10.4]: readable envelopes by the same predicate as live delivery [MEUP-8.1], and only hashes
 * of the others. Starts after the seq `after`, if it is kept, and ends with the last envelope delivered at the start of the
 * export. Throws if the log is pruned during the export; the export then has no end line.
 */
export async function* exportLog(
  reader: Reader & LogReader,
  source: RowSource,
  after = 0,
): AsyncGenerator<string, void> {
  const { log, reads, delivered: head } = source
  const { through, hash: previous } = await placeAfter(after, log)
  yield exportLine({ epoch: log.epoch, first: through + 1, previous: hex(previous) })
  let [last, hash] = [through, previous]
  for await (const { rows } of reads.replay(reader, { after: through, before: head + 1, withProofs: true })) {
    if (rows[0]?.seq !== last + 1) break
    for (const row of rows) yield exportLine(row.body.length > 0 ? shown(row) : withheld(row))
    ;[last, hash] = [rows.at(-1)?.seq ?? last, rows.at(-1)?.hash ?? hash]
  }
  if (reader.isGone()) return
  if (last !== head) throw new LogError('range', logTexts.pruned, { seq: last + 1 })
  yield exportLine({ epoch: log.epoch, head, hash: hex(hash) })
}

/** The hash of the row before the first envelope of an export, to which that envelope links. */
async function placeAfter(after: number, log: EnvelopeLog): Promise<ReturnType<typeof getChainStart>> {
  const beginning = getChainStart(log)
  if (after <= beginning.through) return beginning
  const [row] = await log.read({ after: after - 1, before: after + 1, limit: 1 })
  // If the row was pruned in the meantime, the export starts at the first kept row.
  return row === undefined ? getChainStart(log) : { through: after, hash: row.hash }
}

const shown = ({ seq, salt, body }: Row) => ({ seq, salt: hex(salt), body: Buffer.from(body).toString() })
const withheld = ({ seq, leaf }: Row) => ({ seq, leaf: hex(leaf) })

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
