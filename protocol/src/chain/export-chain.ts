import type { ExportRecord } from './export-lines.js'
import { join } from './join.js'

/** SHA-256 of these bytes: that of Node, or of a browser. */
export type Sha256 = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<Uint8Array>

/** The end of a chain, as somebody has kept it: a seq and the hash of that envelope, hexadecimal. */
export interface KnownHead {
  readonly seq: number
  readonly hash: string
}

/** What an export turned out to be. */
export type ExportVerdict =
  | {
      readonly ok: true
      readonly epoch: string
      readonly first: number
      readonly head: number
      readonly hash: string
      /** Envelopes. */
      readonly checked: number
      /** How many of them can be read. */
      readonly shown: number
    }
  | {
      readonly ok: false
      /** Number of the line at which it shows, from 1. */
      readonly line: number
      readonly problem: string
    }

/** The chain of an export, line by line. What `take` gives is what is wrong with the line. */
export class ExportChain {
  verdict: Extract<ExportVerdict, { ok: true }> | undefined
  readonly #sha256: Sha256
  readonly #known: KnownHead | undefined
  #epoch: string | undefined
  #first = 0
  #last = 0
  #shown = 0
  #hash: Uint8Array = new Uint8Array()

  constructor(sha256: Sha256, known?: KnownHead) {
    this.#sha256 = sha256
    this.#known = known
  }

  /** Seq of the last envelope so far. */
  get last(): number {
    return this.#last
  }

  /** Hash of that envelope: what the next one links to. */
  get hash(): Uint8Array {
    return this.#hash
  }

  /** Why there is no verdict yet. */
  get lack(): string {
    return this.#epoch === undefined
      ? 'there is nothing in it'
      : `its end is missing, after seq ${this.#last}`
  }

  async take(record: ExportRecord): Promise<string | undefined> {
    if (this.verdict !== undefined) return 'this comes after the end'
    if ('first' in record) return this.#begin(record)
    if (this.#epoch === undefined) return 'the beginning is missing'
    return 'seq' in record ? this.#link(record) : this.#end(record)
  }

  async #begin({ epoch, first, previous }: Extract<ExportRecord, { first: number }>) {
    if (this.#epoch !== undefined) return 'it begins for a second time'
    if (first === 0) return 'envelopes are counted from 1'
    if (first === 1 && previous !== toHex(await this.#sha256(encoder.encode(epoch)))) {
      return 'the first envelope does not link to the epoch'
    }
    ;[this.#epoch, this.#first, this.#last, this.#hash] = [epoch, first, first - 1, fromHex(previous)]
    return this.#compare()
  }

  async #link(record: Extract<ExportRecord, { seq: number }>) {
    const { seq } = record
    if (seq !== this.#last + 1) return `seq ${seq} follows ${this.#last}`
    const isWithheld = 'leaf' in record
    const leaf = isWithheld
      ? fromHex(record.leaf)
      : await this.#sha256(join(fromHex(record.salt), encoder.encode(record.body)))
    this.#hash = await this.#sha256(join(this.#hash, position(seq), leaf))
    this.#last = seq
    if (!isWithheld) this.#shown++
    return this.#compare()
  }

  #end({ epoch, head, hash }: Extract<ExportRecord, { head: number }>) {
    if (epoch !== this.#epoch) return 'it ends with another epoch than it began with'
    if (head !== this.#last)
      return `it has everything up to seq ${this.#last}, and says that it ends at ${head}`
    if (hash !== toHex(this.#hash)) {
      return 'it does not add up to its hash: an envelope, a salt, a leaf, or the beginning was changed'
    }
    const known = this.#known
    if (known !== undefined && (known.seq < this.#first - 1 || known.seq > head)) {
      return `it has seq ${this.#first} to ${head}, and tells nothing about ${known.seq}`
    }
    const checked = head - this.#first + 1
    this.verdict = { ok: true, epoch, first: this.#first, head, hash, checked, shown: this.#shown }
    return undefined
  }

  #compare(): string | undefined {
    const known = this.#known
    if (known?.seq !== this.#last || known.hash === toHex(this.#hash)) return undefined
    return `seq ${known.seq} has another hash than ${known.hash}: this or something before it is not what it was`
  }
}

const encoder = new TextEncoder()

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

/** 8 bytes, big-endian. */
function position(seq: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seq))
  return bytes
}
