import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Failure } from '../../failure/failure.js'
import { UsageError } from '../../lib/exit.js'

/** Maximum size of a file: generous, because `~/.claude.json` contains more than servers and may reach a megabyte. */
const maxFileMiB = 4

/** Reads a UTF-8 or UTF-16 text file. Throws `UsageError` or `Failure`. */
export function readTextFile(path: string): string {
  const text = decode(readBytes(path), path).replace(/^\uFEFF/, '')
  if (text.trim() === '') throw new UsageError('no_servers', { path, reason: 'it is empty' })
  return text
}

function readBytes(path: string): Buffer {
  try {
    const file = openSync(path, 'r')
    try {
      if (fstatSync(file).isDirectory())
        throw new UsageError('no_servers', { path, reason: 'it is a folder' })
      return readLimited(file, path)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Failure('missing_file', { path })
    if (code === 'EACCES' || code === 'EPERM') throw new Failure('forbidden_file', { path })
    if (error instanceof UsageError) throw error
    throw new UsageError('no_servers', { path, reason: message })
  }
}

/** Reads up to the limit; the size of a pipe is unknown in advance. */
function readLimited(file: number, path: string): Buffer {
  const buffer = Buffer.alloc(maxFileMiB * 2 ** 20 + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    read = readSync(file, buffer, length, buffer.length - length, null)
  if (length < buffer.length) return buffer.subarray(0, length)
  throw new UsageError('no_servers', { path, reason: `it is larger than ${maxFileMiB} MiB` })
}

function decode(bytes: Buffer, path: string): string {
  const [first, second] = bytes
  const isLittle = first === 0xff && second === 0xfe
  const encoding = isLittle ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch (error) {
    if (!(error instanceof TypeError)) throw error // `TextDecoder` throws it for binary data.
  }
  throw new UsageError('no_servers', { path, reason: 'it is not text in UTF-8 or UTF-16' })
}
