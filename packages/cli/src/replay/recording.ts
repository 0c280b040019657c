import { createReadStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openExport } from '../audit/export.js'
import type { ConnectionFlags } from '../connection.js'
import { UsageError } from '../exit.js'

/** A log, or a part of one, that can be read as often as needed. */
export interface Recording {
  /** What people call it. */
  readonly name: string
  /** Its bytes, from the beginning: those that it had when it was opened. */
  pieces(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** The recording in a file; `-` = on stdin, absent = the log of the space that the flags name, exported now. */
export async function openRecording(file: string | undefined, flags: ConnectionFlags): Promise<Recording> {
  if (file === undefined) return recordingOf('the log', await spooled(await openExport(flags)))
  if (file === '-') return recordingOf('stdin', await spooled(process.stdin))
  try {
    const handle = await open(file)
    if ((await handle.stat()).isFile()) return await recordingOf(file, handle)
    await handle.close()
    return await recordingOf(file, await spooled(createReadStream(file)))
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function recordingOf(name: string, file: FileHandle): Promise<Recording> {
  const { size } = await file.stat()
  return { name, pieces: () => piecesOf(file, size), close: () => file.close() }
}

const pieceBytes = 64 * 1024

async function* piecesOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array, void> {
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
async function spooled(pieces: AsyncIterable<Uint8Array>): Promise<FileHandle> {
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
