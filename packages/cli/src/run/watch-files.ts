import { join } from 'node:path'
import type { Config } from '../config/config.js'

/** Milliseconds: editors write a file in several steps. */
const settleMs = 100

export interface WatchEvents {
  changed(): void
  /** What is watched may have changed unseen from now on. */
  failed(error: unknown): void
}

/** Says when the configuration file or a token has changed. Resolves when nothing can be missed any more. */
export async function watchFiles(
  { file, directory }: Config,
  { changed, failed }: WatchEvents,
): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar')
  const watcher = watch([file, join(directory, '.meup', 'tokens')], { ignoreInitial: true })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(changed, settleMs)
  })
  await new Promise<void>((resolve) => {
    watcher
      .on('error', failed)
      .on('error', () => resolve())
      .on('ready', () => resolve())
  })
  return {
    async close() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}
