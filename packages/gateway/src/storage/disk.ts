import { statfsSync, statSync } from 'node:fs'

import type { Disk } from '../ports/envelope-log.js'

/** Disk use of the log file at `path` and of its index; `undefined` if the disk cannot be read. */
export function readDisk(path: string): Disk | undefined {
  try {
    const { bavail, bsize } = statfsSync(path)
    const files = [path, `${path}.index.db`].flatMap((file) => [file, `${file}-wal`, `${file}-shm`])
    const logBytes = files.reduce(
      (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
    return { logBytes, freeBytes: bavail * bsize }
  } catch {
    return undefined // The writer of the log reports an unreachable disk.
  }
}
