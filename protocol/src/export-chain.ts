import { type Erasure, findErasure } from './erasure.js'

/**
 * Verifies an export that arrives in pieces: that it is complete, and as the gateway wrote it [MEUP-10.4]. With `known`, its
 * chain also has to contain that head, so that nothing before the head was rewritten. Runs in browsers as well.
 */
export async function verifyExport(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sha256: Sha256,
  known?: KnownHead,
): Promise<ExportVerdict> {
  const records = readExport(pieces, sha256, known)
  for (;;) {
    const { done, value } = await records.next()
    if (done) return value
  }
}

/**
 * Yields the records of an export, one per line, and returns the verdict of `verifyExport`. A changed envelope may show only at
 * the end: until then, nothing is proven.
 */
export async function* readExport(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sha256: Sha256,
  known?: KnownHead,
): AsyncGenerator<ExportRecord, ExportVerdict> {
  const chain = new ExportChain(sha256, known)
  let line = 0
  for await (const bytes of splitLines(pieces)) {
    line++
    const record = readExportLine(bytes)
    if (record === undefined) return { ok: false, line, problem: 'no gateway has written this line' }
    const problem = await chain.add(record)
    if (problem !== undefined) return { ok: false, line, problem }
    yield record
  }
  return chain.verdict ?? { ok: false, line, problem: chain.lack }
}

/** Computes SHA-256, by Node or a browser. */
export type Sha256 = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<Uint8Array>

/** The known head of a chain: a seq and the hexadecimal hash of that envelope. */
export interface KnownHead {
  readonly seq: number
  readonly hash: string
}

/** The result of verifying an export. */
export type ExportVerdict =
  | {
      readonly ok: true
      readonly epoch: string
      readonly first: number
      readonly head: number
      readonly hash: string
      /** Number of envelopes that were checked. */
      readonly checked: number
      /** Number of envelopes that the export contains in full; it withholds the others. */
      readonly shown: number
      /** Erased envelopes in the export, by the records of their erasures [MEUP-10.10]. */
      readonly erased: readonly Erasure[]
    }
  | {
      readonly ok: false
      /** Number of the line with the first fault, from 1. */
      readonly line: number
      readonly problem: string
    }

/** Verifies an export line by line. `add` returns the fault of a line. */
export class ExportChain {
  verdict: Extract<ExportVerdict, { ok: true }> | undefined
  readonly #sha256: Sha256
  readonly #known: KnownHead | undefined
  #epoch: string | undefined
  #first = 0
  #last = 0
  #shown = 0
  readonly #erased: Erasure[] = []
  #hash: Uint8Array = new Uint8Array()

  constructor(sha256: Sha256, known?: KnownHead) {
    this.#sha256 = sha256
    this.#known = known
  }

  /** Seq of the last envelope. */
  get last(): number {
    return this.#last
  }

  /** Hash of the last envelope, which the next one links to. */
  get hash(): Uint8Array {
    return this.#hash
  }

  /** Says why the export is incomplete. */
  get lack(): string {
    return this.#epoch === undefined ? 'it is empty' : `its end is missing, after seq ${this.#last}`
  }

  async add(record: ExportRecord): Promise<string | undefined> {
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
      : await this.#sha256(concatBytes(fromHex(record.salt), encoder.encode(record.body)))
    this.#hash = await this.#sha256(concatBytes(this.#hash, position(seq), leaf))
    this.#last = seq
    if (!isWithheld) this.#onShown(record.body)
    return this.#compare()
  }

  #onShown(body: string): void {
    this.#shown++
    const erasure = findErasure(body)
    if (erasure !== undefined && erasure.seq >= this.#first) this.#erased.push(erasure)
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
      return `it has seq ${this.#first} to ${head}, without ${known.seq}`
    }
    const checked = head - this.#first + 1
    const [first, shown, erased] = [this.#first, this.#shown, this.#erased]
    this.verdict = { ok: true, epoch, first, head, hash, checked, shown, erased }
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

/** Encodes a seq in 8 bytes, big-endian. */
function position(seq: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seq))
  return bytes
}

/** The first record of an export [MEUP-10.4]. Salts and hashes are hexadecimal. */
interface Header {
  readonly epoch: string
  /** Seq of the first envelope. */
  readonly first: number
  /** The hash that the first envelope links to. */
  readonly previous: string
}

/** The record of a readable envelope, with its exact JSON as text. */
interface Shown {
  readonly seq: number
  readonly salt: string
  readonly body: string
}

/** The record of an envelope that the reader may not read: only its link of the chain. */
interface Withheld {
  readonly seq: number
  readonly leaf: string
}

/** The last record of an export. */
interface Trailer {
  readonly epoch: string
  readonly head: number
  readonly hash: string
}

export type ExportRecord = Header | Shown | Withheld | Trailer

/** Encodes a record as a line with its line feed. Equal records give equal bytes. */
export const exportLine = (record: ExportRecord): string => `${JSON.stringify(record)}\n`

/** Parses a line with its line feed; `undefined` = a gateway would not have written it. */
export function readExportLine(bytes: Uint8Array): ExportRecord | undefined {
  try {
    const line = decoder.decode(bytes)
    const record: unknown = JSON.parse(line)
    return isRecord(record) && exportLine(record) === line ? record : undefined
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Test = (value: unknown) => boolean

/** Whether a value is a text that UTF-8 can represent: lone surrogates would be encoded as other bytes. */
const isText: Test = (value) => typeof value === 'string' && value.isWellFormed()
const isWhole: Test = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isHex =
  (bytes: number): Test =>
  (value) =>
    typeof value === 'string' && value.length === 2 * bytes && /^[\da-f]*$/.test(value)
const [isSalt, isHash] = [isHex(16), isHex(32)]

/** The fields of each type of record, in their order. */
const shapes: readonly Readonly<Record<string, Test>>[] = [
  { seq: isWhole, salt: isSalt, body: isText },
  { seq: isWhole, leaf: isHash },
  { epoch: isText, first: isWhole, previous: isHash },
  { epoch: isText, head: isWhole, hash: isHash },
]

function isRecord(value: unknown): value is ExportRecord {
  const fields = Object.entries(Object(value))
  const names = fields.map(([name]) => name).join()
  const shape = shapes.find((each) => Object.keys(each).join() === names)
  return shape !== undefined && fields.every(([name, field]) => shape[name]?.(field) === true)
}

const lineFeed = 0x0a

/** Splits bytes into lines with their line feeds; the last line may lack it. */
export async function* splitLines(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let parts: Uint8Array[] = []
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, start)) {
      yield concatBytes(...parts, piece.subarray(start, end + 1))
      parts = []
      start = end + 1
    }
    if (start < piece.length) parts.push(piece.subarray(start))
  }
  if (parts.length > 0) yield concatBytes(...parts)
}

/** Concatenates bytes, in browsers as well. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const part of parts) {
    bytes.set(part, end)
    end += part.length
  }
  return bytes
}
