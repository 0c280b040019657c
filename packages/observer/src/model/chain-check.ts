import {
  ExportChain,
  type ExportRecord,
  type KnownHead,
  readExportLine,
  type Sha256,
  splitLines,
} from '@meup/protocol'
import { Hashes } from './hashes.js'
import { firstMismatch, isSame } from './mismatch.js'

/** What was checked, when all of it holds. */
export interface Checked {
  /** Seqs of the first and the last envelope. */
  readonly first: number
  readonly head: number
  /** How many of them could be read; the others are known by their leaf alone. */
  readonly read: number
  /** How many of those had been shown before. */
  readonly compared: number
}

/** A log that is not what it was. */
export class BrokenChain extends Error {
  /** Seq of the first envelope that is changed or missing; `undefined` where that is not known. */
  readonly seq: number | undefined

  constructor(problem: string, seq?: number) {
    super(problem)
    this.seq = seq
  }
}

/** An export that ended too soon: that proves nothing. */
class LackingExport extends Error {}

/** What a check needs. */
export interface ChainPorts {
  readonly sha256: Sha256
  /** The export of what comes behind a seq, piece by piece; -1 or 0 = all of it. */
  open(after: number): AsyncIterable<Uint8Array>
  /** The envelope that was shown with this seq. */
  shown(seq: number): { readonly seq?: number } | undefined
  /** Called after each envelope: lets others work, or throws to end it. */
  pause(): Promise<void> | undefined
}

const nothing: KnownHead = { seq: -1, hash: '' }

/** Computes the chain of a log from its exports, each from where the last one ended [MEUP-10.1, MEUP-10.4]. */
export class ChainCheck {
  readonly hashes = new Hashes()
  checked: Checked | undefined
  readonly #ports: ChainPorts
  readonly #epoch: string
  /** The last head that held: whatever is read later has to lead through it. */
  #kept = nothing

  constructor(epoch: string, ports: ChainPorts) {
    this.#epoch = epoch
    this.#ports = ports
  }

  /** The next check is one of the whole log. */
  again(): void {
    this.hashes.shorten(-1)
    this.checked = undefined
  }

  /** Goes on to the end of the log. Throws `BrokenChain`, `LackingExport`, and what the ports throw; then nothing new holds. */
  async readOn(): Promise<Checked> {
    const from = this.hashes.last
    try {
      this.checked = await this.#read(from)
    } catch (error) {
      this.hashes.shorten(from)
      throw error
    }
    const { head: seq } = this.checked
    this.#kept = { seq, hash: this.hashes.of(seq) ?? '' }
    return this.checked
  }

  async #read(from: number): Promise<Checked> {
    const { sha256, open, pause } = this.#ports
    const chain = new ExportChain(sha256)
    let { first, read, compared } = this.checked ?? { first: 1, read: 0, compared: 0 }
    for await (const line of splitLines(open(from))) {
      const record = readExportLine(line)
      if (record === undefined)
        throw new BrokenChain('this line of the export is damaged', this.hashes.last + 1)
      if ('first' in record && (await this.#begins(record))) [first, read, compared] = [record.first, 0, 0]
      const problem = await chain.take(record)
      if (problem !== undefined) throw await this.#broken(problem, record, chain.last)
      if (!('seq' in record)) continue
      this.#add(record.seq, chain.hash)
      if ('body' in record) {
        read++
        if (this.#compare(record.seq, record.body)) compared++
      }
      await pause()
    }
    if (chain.verdict === undefined) throw new LackingExport(chain.lack)
    return { first, head: chain.verdict.head, read, compared }
  }

  /** Whether the chain begins here; else it has to go on from where it was. */
  async #begins({ epoch, first, previous }: Extract<ExportRecord, { first: number }>): Promise<boolean> {
    if (epoch !== this.#epoch) throw new BrokenChain('the export is of another log')
    const { last } = this.hashes
    if (first <= last) throw new BrokenChain('the export does not begin where it was asked to')
    if (last < 0 || first > last + 1) {
      this.hashes.begin(first - 1, bytesOf(previous))
      return true
    }
    if (previous === this.hashes.of(last)) return false
    throw new BrokenChain('it is not what was checked here before', await this.#part(last))
  }

  #add(seq: number, hash: Uint8Array): void {
    this.hashes.add(hash)
    const { seq: kept, hash: known } = this.#kept
    if (seq !== kept || this.hashes.of(seq) === known) return
    throw new BrokenChain(`what comes up to #${seq} is not what was checked here before`)
  }

  /** Whether this envelope had been shown. It must be the same. */
  #compare(seq: number, body: string): boolean {
    const shown = this.#ports.shown(seq)
    if (shown === undefined) return false
    if (!isSame(body, shown)) throw new BrokenChain('it is not what was shown here', seq)
    return true
  }

  async #broken(problem: string, record: ExportRecord, last: number): Promise<BrokenChain> {
    if (!('head' in record)) return new BrokenChain(problem, 'seq' in record ? last + 1 : undefined)
    if (record.head !== last) return new BrokenChain(problem, last + 1)
    return new BrokenChain('it does not have the hash that was chained', await this.#part(last))
  }

  /** The first envelope whose hash is another one here than in the log: an export tells the hash that it begins behind. */
  #part(bad: number): Promise<number> {
    return firstMismatch(this.hashes.first, bad, async (seq) => {
      for await (const line of splitLines(this.#ports.open(seq))) {
        const record = readExportLine(line)
        return record !== undefined && 'first' in record && record.previous === this.hashes.of(seq)
      }
      return false
    })
  }
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
