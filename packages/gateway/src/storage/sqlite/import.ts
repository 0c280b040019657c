import { checkEnvelope, checkPayload, type Envelope, type KnownHead } from '@meup/protocol'
import type Database from 'better-sqlite3'
import { nanoid } from 'nanoid'
import { encodeHead, toDraft } from '../../log/entries.js'
import { LogError, logTexts } from '../../log/error.js'
import type { DraftEntry } from '../../ports/envelope-log.js'
import type { OpenedSpace } from './calls.js'
import { lock, openForWriting } from './files.js'
import { ChainWriter } from './log-file.js'
import { storable } from './rows.js'
import { asLogError } from './sqlite-error.js'

export interface ImportOptions {
  /** The file of the log, created if missing. It may contain other spaces. */
  readonly path: string
  /** Name of the space, which must be empty. */
  readonly space: string
  /** Epoch of the imported log; absent = a new log. */
  readonly epoch?: string
  /** Rows in order from seq 1 on, without a gap. */
  readonly rows: Iterable<ImportedRow> | AsyncIterable<ImportedRow>
  /** Seq and hash that the last row must have; absent = not checked. */
  readonly head?: KnownHead
}

export interface ImportedLog {
  readonly epoch: string
  /** Seq of the last imported row. */
  readonly head: number
  /** Hexadecimal hash of the last row. */
  readonly hash: string
}

/**
 * Creates the log of a space from an export: the same bytes of envelopes and, with the same epoch and salts, the same chain.
 * Stores everything or nothing. Rejects with the error of `rows`, or a `LogError`: `occupied`, `locked`, `gap`, `duplicate_id`,
 * `corrupt` (not an envelope, or another head), `format`, `driver` or `io`.
 */
export async function importLog({ path, rows, head, ...named }: ImportOptions): Promise<ImportedLog> {
  const holder = attempt(() => lock(path))
  try {
    const db = attempt(() => openForWriting(path, 'power', { create: true }))
    try {
      const log = attempt(() => new LogImport(db, named))
      for await (const row of rows) attempt(() => log.add(row))
      return attempt(() => log.end(head))
    } finally {
      db.close() // Closing rolls back what is not committed.
    }
  } finally {
    holder.close()
  }
}

/** One transaction, from the first row to the last. */
class LogImport {
  readonly #db: Database.Database
  readonly #chainWriter: ChainWriter
  readonly #opened: OpenedSpace

  constructor(db: Database.Database, { space, epoch = nanoid() }: Pick<ImportOptions, 'space' | 'epoch'>) {
    this.#db = db
    this.#chainWriter = new ChainWriter(db)
    db.exec('BEGIN IMMEDIATE')
    db.prepare(
      `INSERT INTO spaces (name, epoch) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch`,
    ).run(space, epoch)
    this.#opened = this.#chainWriter.open(space)
    if (this.#opened.head > 0) throw new LogError('occupied', logTexts.occupied, { space, path: db.name })
  }

  add(row: ImportedRow): void {
    const [refusal] = this.#chainWriter.append([
      { space: this.#opened.space, drafts: [storable(importedDraft(row))] },
    ])
    if (refusal !== undefined) throw refusal
  }

  end(expected: KnownHead | undefined): ImportedLog {
    const { space, epoch } = this.#opened
    const head = this.#chainWriter.getHead(space)
    const hash = Buffer.from(this.#chainWriter.headHash(space)).toString('hex')
    if (expected !== undefined && (expected.seq !== head || expected.hash !== hash)) {
      const heads = { head: `${head}:${hash}`, expected: `${expected.seq}:${expected.hash}` }
      throw new LogError('corrupt', logTexts.otherHead, heads)
    }
    this.#db.exec('COMMIT')
    return { epoch, head, hash }
  }
}

function attempt<Result>(task: () => Result): Result {
  try {
    return task()
  } catch (error) {
    throw asLogError(error)
  }
}

/** A line of an export. */
export interface ImportedRow {
  readonly seq: number
  /** The exact JSON of the envelope, without `seq`. */
  readonly body: string
  /** 16 bytes, hexadecimal; absent = a new salt. */
  readonly salt?: string
}

/** Parses the JSON of an envelope; a string = what is wrong with it. */
export function readLogged(json: string): Envelope | string {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return `invalid JSON: ${String(error)}`
  }
  const envelope = value as Envelope
  const problem = checkEnvelope(value) ?? checkPayload(envelope.kind, envelope.payload)
  return problem === undefined ? envelope : `invalid envelope: ${problem.path || '/'} ${problem.message}`
}

/** Like `readLogged`, for JSON that delivery can splice a seq into. */
export function readImportedBody(body: string): Envelope | string {
  const envelope = readLogged(body)
  if (typeof envelope === 'string') return envelope
  return envelope.seq === undefined && body.startsWith('{') ? envelope : 'no log has this as a body'
}

/**
 * The row as a draft. For a masked envelope the original content is unknown, so a retry of it is refused as `duplicate_id`.
 * Throws a `LogError`.
 */
function importedDraft({ seq, body, salt }: ImportedRow): DraftEntry & { readonly salt?: Uint8Array } {
  const envelope = readImportedBody(body)
  if (typeof envelope === 'string') throw invalid(seq, envelope)
  if (salt !== undefined && !/^[\da-f]{32}$/.test(salt)) throw invalid(seq, 'its salt does not have 16 bytes')
  const bytes = Buffer.from(body)
  const head = encodeHead(envelope)
  const content = body.startsWith(head) ? bytes.subarray(Buffer.byteLength(head)) : bytes
  const draft = toDraft(envelope, seq, { body: bytes, content })
  return salt === undefined ? draft : { ...draft, salt: Buffer.from(salt, 'hex') }
}

const invalid = (seq: number, reason: string): LogError =>
  new LogError('corrupt', logTexts.invalidRow, { seq, reason })
