import { pause, until } from '../load/waiting.js'
import type { ServerProcess } from './process.js'

/** How long a server is left alone after its garbage was collected. */
const restMs = 500

/** For a server whose memory is to be read. */
export const collectable = ['--expose-gc', '--import', new URL('./collect-garbage.mjs', import.meta.url).href]

/** Bytes: what the system counts as the process's, and what its main thread holds. */
export interface Memory {
  readonly resident: number
  readonly used: number
}

/** Memory of a server after garbage collection. */
export async function memoryOf({ pid, said, rss }: ServerProcess): Promise<Memory> {
  const { length } = said
  process.kill(pid, 'SIGUSR2')
  await until(() => said.length > length)
  await pause(restMs)
  const { used } = JSON.parse(said.at(-1) ?? '{}') as { used: number }
  return { used, resident: rss() }
}
