import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportedRow, readImportedBody, readLogged } from '@meup/gateway'
import {
  type AnyEnvelope,
  type Envelope,
  type ExportVerdict,
  omitUndefined,
  readExport,
  splitLines,
} from '@meup/protocol'
import { type ConnectionFlags, createHttpClient } from '../lib/connection.js'
import { explainUnreadable } from '../lib/unreadable-export.js'

/** An envelope of a recording, or a gap in it. */
export type RecordedItem =
  /** `row`: the envelope's row in the log; absent for envelopes that are not logged, such as errors. */
  | { readonly envelope: AnyEnvelope; readonly row?: ImportedRow }
  /** Seq of an envelope that the exporter was not allowed to read, or that was erased. */
  | { readonly withheld: number }

/** Range and gaps of an undamaged recording. */
export interface RecordingExtent {
  readonly ok: true
  /** The first seq; `head`: the last seq. Both are 0 if the recording is empty. */
  readonly first: number
  readonly head: number
  /** Number of envelopes without content: not readable for the exporter, or erased; `erased`: number of erased ones. */
  readonly withheld: number
  readonly erased?: number
  /** The first missing seq; only for plain envelopes. */
  readonly gap?: number
  /** The verified epoch and hash; only for exports, since plain envelopes cannot prove that they are complete. */
  readonly proof?: { readonly epoch: string; readonly hash: string }
}

export type RecordingDamage = Extract<ExportVerdict, { ok: false }>

/** A log, or part of one, that can be read repeatedly. */
export interface Recording {
  /** Name used in messages. */
  readonly name: string
  /** Reads the bytes from the beginning, up to the size at opening. */
  pieces(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** Opens a recording; `-` = from stdin, absent = exports the log of the space that the flags select. */
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
    throw explainUnreadable(file, error)
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

/** Copies a stream to an unlinked file, which disappears with this process. */
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
 * Reads a recording: an export, or plain envelopes, one per line. The return value says if it is undamaged; items are
 * unverified until then.
 */
export async function* readRecording(
  recording: Recording,
): AsyncGenerator<RecordedItem, RecordingExtent | RecordingDamage> {
  const isPlain = await beginsPlainly(recording)
  return yield* (isPlain ? readEnvelopes : readProven)(recording.pieces())
}

/** Whether the first line looks like an envelope. Otherwise the recording must be a valid export. */
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
    const envelope = readImportedBody(value.body)
    if (typeof envelope === 'string') return { ok: false, line, problem: envelope }
    yield { envelope: { seq: value.seq, ...envelope } as AnyEnvelope, row: value }
  }
}

function toExtent(whole: Extract<ExportVerdict, { ok: true }>): RecordingExtent {
  const { first, head, checked, shown, erased, epoch, hash } = whole
  const gone = erased.length > 0 ? { erased: erased.length } : {}
  return { ok: true, first, head, withheld: checked - shown, ...gone, proof: { epoch, hash } }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads plain envelopes, as from `watch --json` or the HTTP API: one per line, in log order. */
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
  return { ok: true, first, head: last, withheld: 0, ...omitUndefined({ gap }) }
}

/** Returns the problem as text if the line is invalid. */
function readLine(bytes: Uint8Array): { readonly envelope: Envelope; readonly json: string } | string {
  let json: string
  try {
    json = decoder.decode(bytes).trimEnd()
  } catch {
    return 'this is not UTF-8'
  }
  const envelope = readLogged(json)
  return typeof envelope === 'string' ? envelope : { envelope, json }
}

/** Removes the seq. If it is the first field, the other characters stay unchanged; otherwise the JSON is serialized again. */
function removeSeq(json: string, { seq, ...envelope }: Envelope): string {
  const front = `{"seq":${seq},`
  return json.startsWith(front) ? `{${json.slice(front.length)}` : JSON.stringify(envelope)
}
