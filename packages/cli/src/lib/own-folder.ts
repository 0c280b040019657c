import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** Maximum length of a socket path on macOS, without the terminating zero; Linux allows four bytes more. */
const maxPathBytes = 103

/** The control socket of a folder's `meup up`: in `.meup/run`, or in the temporary folder if that path is too long. */
export function getControlPath(directory: string): string {
  const own = join(directory, '.meup', 'run', 'control.sock')
  if (Buffer.byteLength(own) <= maxPathBytes) return own
  return join(tmpdir(), `meup-${hashDirectory(directory)}`, 'control.sock')
}

/** A short file name derived from a folder's path. */
export const hashDirectory = (directory: string): string =>
  createHash('sha256').update(directory).digest('hex').slice(0, 16)

/** Creates a folder that only this user may access. Throws if another user owns it. */
export function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if ((mode & 0o170_000) !== 0o040_000 || uid !== userInfo().uid)
    throw new Error(`${folder} belongs to another user`)
  chmodSync(folder, 0o700)
}
