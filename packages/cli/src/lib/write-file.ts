import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** Writes a file that only its owner may read, atomically. */
export async function writeFile(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const part = `${path}.part`
  try {
    // Opened before anything can fail: a stream opens its file later, and could create it again after its removal.
    const file = await open(part, 'w', 0o600)
    await pipeline(pieces, file.createWriteStream())
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}
