import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportedRow, readBody, readLogged } from '@meup/gateway'
import { type AnyEnvelope, type Envelope, type ExportVerdict, readExport, splitLines } from '@meup/protocol'
import { type ConnectionFlags, createHttpClient } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'

/** A line of a recording. */
export type RecordedItem =
  /** `row` = as a log has it; absent for what is in none, such as an error. */
  | { readonly envelope: AnyEnvelope; readonly row?: ImportedRow }
  /** Seq of an envelope that the exporter was not allowed to read. */
  | { readonly withheld: number }

/** The extent of an undamaged recording. */
export interface RecordingExtent {
  readonly ok: true
  /** First and last seq; 0 = it has none. */
  readonly first: number
  readonly head: number
  /** Envelopes that the exporter was not allowed to read. */
  readonly withheld: number
  /** Of plain envelopes: the first seq from 1 on that is missing, though later ones are there. */
  readonly gap?: number
  /** Of an export. Nothing proves that plain envelopes are whole. */
  readonly proof?: { readonly epoch: string; readonly hash: string }
}

export type RecordingDamage = Extract<ExportVerdict, { ok: false }>

/** A log, or a part of one, that can be read as often as needed. */
export interface Recording {
  /** Name for messages. */
  readonly name: string
  /** Its bytes, from the beginning: those that it had when it was opened. */
  pieces(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** The recording in a file; `-` = on stdin, absent = the log of the space that the flags name, exported now. */
export async function openRecording(file: string | undefined, flags: ConnectionFlags): Promise<Recording> {
  if (file === undefined)
    return createRecording('the log', await spoolToTempFile(await createHttpClient(flags).openExport()))
  if (file === '-') return createRecording('stdin', await spoolToTempFile(process.stdin))
  try {
    const handle = await open(file)
    if ((await handle.stat()).isFile()) return await createRecording(file, handle)
    await handle.close()
    return await createRecording(file, await spoolToTempFile(createReadStream(file)))
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function createRecording(name: string, file: FileHandle): Promise<Recording> {
  const { size } = await file.stat()
  return { name, pieces: () => readPieces(file, size), close: () => file.close() }
}

const pieceBytes = 64 * 1024

async function* readPieces(file: FileHandle, size: number): AsyncGenerator<Uint8Array, void> {
  let position = 0
  while (position < size) {
    const length = Math.min(pieceBytes, size - position)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

/** What can be read but once, in a file without a name: it is gone when this process is, however it ends. */
async function spoolToTempFile(pieces: AsyncIterable<Uint8Array>): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'meup-replay-'))
  const file = await open(join(folder, 'spool'), 'wx+', 0o600)
  await rm(folder, { recursive: true })
  try {
    for await (const piece of pieces) await file.appendFile(piece)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/**
 * Reads a recording: an export, or plain envelopes, one a line. That it is damaged may show at its end alone: until then,
 * nothing of it is certain.
 */
export async function* readRecording(
  recording: Recording,
): AsyncGenerator<RecordedItem, RecordingExtent | RecordingDamage> {
  const isPlain = await beginsPlainly(recording)
  return yield* (isPlain ? readEnvelopes : readProven)(recording.pieces())
}

/** Whether the first line looks like an envelope. Whatever else it is must prove to be an export. */
async function beginsPlainly(recording: Recording): Promise<boolean> {
  for await (const line of splitLines(recording.pieces())) {
    try {
      return Object.hasOwn(Object(JSON.parse(Buffer.from(line).toString())), 'kind')
    } catch {
      return false
    }
  }
  return false
}

async function* readProven(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordedItem, RecordingExtent | RecordingDamage> {
  const records = readExport(pieces, (bytes) => createHash('sha256').update(bytes).digest())
  for (let line = 1; ; line++) {
    const { done, value } = await records.next()
    if (done) return value.ok ? toExtent(value) : value
    if (!('seq' in value)) continue
    if ('leaf' in value) {
      yield { withheld: value.seq }
      continue
    }
    const envelope = readBody(value.body)
    if (typeof envelope === 'string') return { ok: false, line, problem: envelope }
    yield { envelope: { seq: value.seq, ...envelope } as AnyEnvelope, row: value }
  }
}

function toExtent(whole: Extract<ExportVerdict, { ok: true }>): RecordingExtent {
  const { first, head, checked, shown, epoch, hash } = whole
  return { ok: true, first, head, withheld: checked - shown, proof: { epoch, hash } }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Envelopes as `watch --json` prints them, or the HTTP API gives them: one a line, in the order of the log. */
async function* readEnvelopes(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordedItem, RecordingExtent | RecordingDamage> {
  let [line, first, last] = [0, 0, 0]
  let gap: number | undefined
  for await (const bytes of splitLines(pieces)) {
    line++
    const read = readLine(bytes)
    if (typeof read === 'string') return { ok: false, line, problem: read }
    const { envelope, json } = read
    const { seq } = envelope
    if (seq === undefined) {
      yield { envelope: envelope as AnyEnvelope }
      continue
    }
    if (seq <= last) return { ok: false, line, problem: `seq ${seq} follows ${last}` }
    if (seq > last + 1) gap ??= last + 1
    ;[first, last] = [first || seq, seq]
    yield { envelope: envelope as AnyEnvelope, row: { seq, body: removeSeq(json, envelope) } }
  }
  return { ok: true, first, head: last, withheld: 0, ...(gap !== undefined && { gap }) }
}

/** Returns a text if the line is invalid. */
function readLine(bytes: Uint8Array): { readonly envelope: Envelope; readonly json: string } | string {
  let json: string
  try {
    json = decoder.decode(bytes).trimEnd()
  } catch {
    return 'this is no UTF-8'
  }
  const envelope = readLogged(json)
  return typeof envelope === 'string' ? envelope : { envelope, json }
}

/** Without its seq, and otherwise the characters that are there; where the seq is not in front, as JSON that says the same. */
function removeSeq(json: string, { seq, ...envelope }: Envelope): string {
  const front = `{"seq":${seq},`
  return json.startsWith(front) ? `{${json.slice(front.length)}` : JSON.stringify(envelope)
}
