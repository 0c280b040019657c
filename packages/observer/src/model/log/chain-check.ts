import {
  type Envelope,
  ExportChain,
  type ExportRecord,
  type KnownHead,
  readExportLine,
  type Sha256,
  splitLines,
} from '@meup/protocol'
import { getFullSize, truncateEnvelope } from './truncate.js'

/** The range that a successful check has verified. */
export interface CheckResult {
  /** Seq of the first envelope; `head`: seq of the last one. */
  readonly first: number
  readonly head: number
  /** Number of readable envelopes; of the others only the hash is known. */
  readonly read: number
  /** Number of readable envelopes that were compared with shown ones. */
  readonly compared: number
}

/** The log was changed or an envelope is missing. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'
  /** Seq of the first changed or missing envelope; `undefined` if unknown. */
  readonly seq: number | undefined

  constructor(problem: string, seq?: number) {
    super(problem)
    this.seq = seq
  }
}

/** An export that ended early, which proves nothing. */
class IncompleteExport extends Error {}

interface ChainPorts {
  readonly sha256: Sha256
  /** Opens the export after a seq; -1 or 0 = from the beginning. */
  open(after: number): AsyncIterable<Uint8Array>
  /** The envelope that the page shows with this seq. */
  shown(seq: number): { readonly seq?: number } | undefined
  /** Called after each envelope. May return a promise to let other work run, or throw to stop the check. */
  pause(): Promise<void> | undefined
}

const nothing: KnownHead = { seq: -1, hash: '' }

/** Verifies the hash chain of a log from exports; each continues where the last one ended [MEUP-10.1, MEUP-10.4]. */
export class ChainCheck {
  readonly hashes = new Hashes()
  checked: CheckResult | undefined
  readonly #ports: ChainPorts
  readonly #epoch: string
  /** The last envelope that was verified, with its hash: later exports must contain it. */
  #kept = nothing

  constructor(epoch: string, ports: ChainPorts) {
    this.#epoch = epoch
    this.#ports = ports
  }

  /** Makes the next check cover the whole log. */
  reset(): void {
    this.hashes.truncateAfter(-1)
    this.checked = undefined
  }

  /**
   * Verifies the rest of the log. Throws `BrokenChain`, `IncompleteExport`, and errors of the ports; the previous result then
   * stays.
   */
  async check(): Promise<CheckResult> {
    const from = this.hashes.last
    try {
      this.checked = await this.#read(from)
    } catch (error) {
      this.hashes.truncateAfter(from)
      throw error
    }
    const { head: seq } = this.checked
    this.#kept = { seq, hash: this.hashes.get(seq) ?? '' }
    return this.checked
  }

  async #read(from: number): Promise<CheckResult> {
    const { sha256, open, pause } = this.#ports
    const chain = new ExportChain(sha256)
    let { first, read, compared } = this.checked ?? { first: 1, read: 0, compared: 0 }
    for await (const line of splitLines(open(from))) {
      const record = readExportLine(line)
      if (record === undefined)
        throw new BrokenChain('this line of the export is damaged', this.hashes.last + 1)
      if ('first' in record && (await this.#onFirstRecord(record)))
        [first, read, compared] = [record.first, 0, 0]
      const problem = await chain.add(record)
      if (problem !== undefined) throw await this.#broken(problem, record, chain.last)
      if (!('seq' in record)) continue
      this.#add(record.seq, chain.hash)
      if ('body' in record) {
        read++
        if (this.#compare(record.seq, record.body)) compared++
      }
      await pause()
    }
    if (chain.verdict === undefined) throw new IncompleteExport(chain.lack)
    return { first, head: chain.verdict.head, read, compared }
  }

  /** Returns `true` if the export starts a new chain; otherwise it must continue from the last check. */
  async #onFirstRecord({
    epoch,
    first,
    previous,
  }: Extract<ExportRecord, { first: number }>): Promise<boolean> {
    if (epoch !== this.#epoch) throw new BrokenChain('the export is of another log')
    const { last } = this.hashes
    if (first <= last) throw new BrokenChain('the export does not begin at the requested seq')
    if (last < 0 || first > last + 1) {
      this.hashes.begin(first - 1, decodeHex(previous))
      return true
    }
    if (previous === this.hashes.get(last)) return false
    throw new BrokenChain('it is not what was checked here before', await this.#findMismatch(last))
  }

  #add(seq: number, hash: Uint8Array): void {
    this.hashes.add(hash)
    const { seq: kept, hash: known } = this.#kept
    if (seq !== kept || this.hashes.get(seq) === known) return
    throw new BrokenChain(`what comes up to #${seq} is not what was checked here before`)
  }

  /** Compares an envelope with the one that was shown, if any; throws if they differ. */
  #compare(seq: number, body: string): boolean {
    const shown = this.#ports.shown(seq)
    if (shown === undefined) return false
    if (!isSameEnvelope(body, shown)) throw new BrokenChain('it is not what was shown here', seq)
    return true
  }

  async #broken(problem: string, record: ExportRecord, last: number): Promise<BrokenChain> {
    if (!('head' in record)) return new BrokenChain(problem, 'seq' in record ? last + 1 : undefined)
    if (record.head !== last) return new BrokenChain(problem, last + 1)
    return new BrokenChain('it does not have the hash that was chained', await this.#findMismatch(last))
  }

  /**
   * Finds the first envelope whose hash differs from the gateway's, by comparing the hash of the previous envelope at the start
   * of an export.
   */
  #findMismatch(bad: number): Promise<number> {
    return firstMismatch(this.hashes.first, bad, async (seq) => {
      for await (const line of splitLines(this.#ports.open(seq))) {
        const record = readExportLine(line)
        return record !== undefined && 'first' in record && record.previous === this.hashes.get(seq)
      }
      return false
    })
  }
}

const decodeHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

const hashBytes = 32

/** Hashes of a chain, by seq. */
class Hashes {
  #bytes = new Uint8Array(hashBytes * 1024)
  /** Seq of the first hash. */
  #first = 0
  #count = 0

  /** Starts with the hash of the envelope with this seq, to which the next one links. */
  begin(seq: number, hash: Uint8Array): void {
    this.#first = seq
    this.#count = 0
    this.add(hash)
  }

  /** Appends the hash of the next envelope. */
  add(hash: Uint8Array): void {
    const start = this.#count * hashBytes
    if (start === this.#bytes.length) {
      const before = this.#bytes
      this.#bytes = new Uint8Array(start * 2)
      this.#bytes.set(before)
    }
    this.#bytes.set(hash, start)
    this.#count++
  }

  /** Drops the hashes of envelopes after this seq. */
  truncateAfter(seq: number): void {
    this.#count = Math.min(Math.max(seq - this.#first + 1, 0), this.#count)
  }

  /** Seq of the first hash, which was taken from the gateway's export and not verified. */
  get first(): number {
    return this.#first
  }

  /** Seq of the last hash; -1 if there is none. */
  get last(): number {
    return this.#count === 0 ? -1 : this.#first + this.#count - 1
  }

  /** The hash as hexadecimal; `undefined` if unknown. */
  get(seq: number): string | undefined {
    const start = (seq - this.#first) * hashBytes
    if (seq < this.#first || seq > this.last) return undefined
    const bytes = this.#bytes.subarray(start, start + hashBytes)
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

/**
 * Binary search for the first envelope at which two chains differ. They agree at `good` and differ at `bad`; `agree` compares
 * them in between.
 */
async function firstMismatch(
  good: number,
  bad: number,
  agree: (seq: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [good, bad]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (await agree(middle)) low = middle
    else high = middle
  }
  return high
}

/** Whether a logged body equals the shown envelope, or, if that is truncated, its beginning. */
function isSameEnvelope(body: string, shown: { readonly seq?: number }): boolean {
  try {
    const { seq, ...rest } = shown
    const logged = JSON.parse(body) as Envelope
    return (
      JSON.stringify(getFullSize(shown as Envelope) === undefined ? logged : truncateEnvelope(logged)) ===
      JSON.stringify(rest)
    )
  } catch {
    return false
  }
}
