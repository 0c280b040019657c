import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** Writes a file that only its owner may read, atomically. */
export async function writeFile(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const part = `${path}.part`
  try {
    // Opened here, because the stream below would open the file later, and could create it again after a failure has removed
    // it.
    const file = await open(part, 'w', 0o600)
    await pipeline(pieces, file.createWriteStream())
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}
