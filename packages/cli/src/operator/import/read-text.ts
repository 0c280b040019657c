import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { describeFailure } from '../../failure/failure.js'
import { UsageError } from '../../lib/exit.js'

/** Generous, because `~/.claude.json` contains more than servers and may reach a megabyte. */
const maxFileMiB = 4

/** Reads a UTF-8 or UTF-16 text file. Throws `UsageError`. */
export function readTextFile(path: string): string {
  const text = decode(readBytes(path), path).replace(/^\uFEFF/, '')
  if (text.trim() === '') throw new UsageError(`${path} is empty; name a file with MCP servers`)
  return text
}

function readBytes(path: string): Buffer {
  try {
    const file = openSync(path, 'r')
    try {
      if (fstatSync(file).isDirectory()) throw new UsageError(`${path} is a folder; name the file in it`)
      return readLimited(file, path)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof UsageError) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new UsageError(describeFailure('missing_file', { path }))
    if (code === 'EACCES' || code === 'EPERM')
      throw new UsageError(describeFailure('forbidden_file', { path }))
    throw new UsageError(`${path} cannot be read: ${message}`)
  }
}

/** Reads up to the limit; the size of a pipe is unknown in advance. */
function readLimited(file: number, path: string): Buffer {
  const buffer = Buffer.alloc(maxFileMiB * 2 ** 20 + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    read = readSync(file, buffer, length, buffer.length - length, null)
  if (length < buffer.length) return buffer.subarray(0, length)
  throw new UsageError(`${path} is larger than ${maxFileMiB} MiB; copy its servers into a file of their own`)
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
  throw new UsageError(`${path} is not a text file in UTF-8 or UTF-16; name a file with MCP servers`)
}
