import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** Writes a file for its owner only. Replaces an older file when it is complete. */
export async function writeFile(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const part = `${path}.part`
  try {
    // Opened before anything can fail: a stream that opens it itself may do so after it was removed.
    const file = await open(part, 'w', 0o600)
    await pipeline(pieces, file.createWriteStream())
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}
