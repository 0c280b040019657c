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

/** What a successful check covered. */
export interface CheckResult {
  /** Seqs of the first and the last envelope. */
  readonly first: number
  readonly head: number
  /** How many of them could be read; the others are known by their leaf alone. */
  readonly read: number
  /** How many of those had been shown before. */
  readonly compared: number
}

/** The log was changed. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'
  /** Seq of the first envelope that is changed or missing; `undefined` where that is not known. */
  readonly seq: number | undefined

  constructor(problem: string, seq?: number) {
    super(problem)
    this.seq = seq
  }
}

/** An export that ended early proves nothing. */
class IncompleteExport extends Error {}

/** What a check needs. */
interface ChainPorts {
  readonly sha256: Sha256
  /** The export of what comes behind a seq, piece by piece; -1 or 0 = all of it. */
  open(after: number): AsyncIterable<Uint8Array>
  /** The envelope that was shown with this seq. */
  shown(seq: number): { readonly seq?: number } | undefined
  /** Called after each envelope: lets others work, or throws to end it. */
  pause(): Promise<void> | undefined
}

const nothing: KnownHead = { seq: -1, hash: '' }

/** Verifies the hash chain of a log from its exports, each continuing where the last one ended [MEUP-10.1, MEUP-10.4]. */
export class ChainCheck {
  readonly hashes = new Hashes()
  checked: CheckResult | undefined
  readonly #ports: ChainPorts
  readonly #epoch: string
  /** The last verified head. Later exports must contain it. */
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

  /** Goes on to the end of the log. Throws `BrokenChain`, `LackingExport`, and what the ports throw; then nothing new holds. */
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

  /** Whether the chain begins here; else it has to go on from where it was. */
  async #onFirstRecord({
    epoch,
    first,
    previous,
  }: Extract<ExportRecord, { first: number }>): Promise<boolean> {
    if (epoch !== this.#epoch) throw new BrokenChain('the export is of another log')
    const { last } = this.hashes
    if (first <= last) throw new BrokenChain('the export does not begin where it was asked to')
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

  /** Whether this envelope had been shown. It must be the same. */
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

  /** The first envelope whose hash differs from the log: an export starts with the hash of the envelope before it. */
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

/** Bytes of a hash. */
const hashBytes = 32

/** The hashes of a chain, by the seq of their envelopes. */
class Hashes {
  #bytes = new Uint8Array(hashBytes * 1024)
  /** Seq of the first that is there. */
  #first = 0
  #count = 0

  /** Begins with the hash that the envelope after this seq links to. */
  begin(seq: number, hash: Uint8Array): void {
    this.#first = seq
    this.#count = 0
    this.add(hash)
  }

  /** The hash of the next envelope. */
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

  /** Forgets those of later envelopes. */
  truncateAfter(seq: number): void {
    this.#count = Math.min(Math.max(seq - this.#first + 1, 0), this.#count)
  }

  /** Seq of the first; what it says was taken from the gateway as it is. */
  get first(): number {
    return this.#first
  }

  /** Seq of the last; -1: there is none. */
  get last(): number {
    return this.#count === 0 ? -1 : this.#first + this.#count - 1
  }

  /** Hexadecimal; `undefined` where it is not known. */
  get(seq: number): string | undefined {
    const start = (seq - this.#first) * hashBytes
    if (seq < this.#first || seq > this.last) return undefined
    const bytes = this.#bytes.subarray(start, start + hashBytes)
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

/**
 * Finds by binary search the first envelope at which two chains differ. They agree at `good` and differ at `bad`; `agree`
 * compares them at a position between.
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

/** Whether the body of an envelope in the log, its JSON without `seq`, is what somebody was shown, perhaps its beginning. */
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
