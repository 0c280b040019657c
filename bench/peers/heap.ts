import { pause, until } from '../load/waiting.js'
import type { ServerProcess } from './process.js'

/** Milliseconds to wait after a garbage collection. */
const restMs = 500

/** Options of Node.js for a server whose memory is measured. */
export const collectable = ['--expose-gc', '--import', new URL('./collect-garbage.mjs', import.meta.url).href]

/** Memory in bytes: the resident set of the process, and the used heap of its main thread. */
export interface Memory {
  readonly resident: number
  readonly used: number
}

/** Measures the memory of a server after garbage collection. */
export async function memoryOf({ pid, said, rss }: ServerProcess): Promise<Memory> {
  const { length } = said
  process.kill(pid, 'SIGUSR2')
  await until(() => said.length > length)
  await pause(restMs)
  const { used } = JSON.parse(said.at(-1) ?? '{}') as { used: number }
  return { used, resident: rss() }
}
