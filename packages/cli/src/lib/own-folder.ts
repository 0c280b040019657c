import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** Length of `sun_path` on macOS, with the zero at its end; Linux has four more. */
const maxPathBytes = 103

/** The socket of a folder's `meup up`: in `.meup/run`, or in a folder for temporary files if that path is too long. */
export function getControlPath(directory: string): string {
  const own = join(directory, '.meup', 'run', 'control.sock')
  if (Buffer.byteLength(own) <= maxPathBytes) return own
  return join(tmpdir(), `meup-${hashDirectory(directory)}`, 'control.sock')
}

/** A short name for a folder. */
export const hashDirectory = (directory: string): string =>
  createHash('sha256').update(directory).digest('hex').slice(0, 16)

/** Creates a folder that only this user may use. Throws if another user has created it first. */
export function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if ((mode & 0o170_000) !== 0o040_000 || uid !== userInfo().uid)
    throw new Error(`${folder} belongs to another user`)
  chmodSync(folder, 0o700)
}
