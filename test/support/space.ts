import { join } from 'node:path'
import { loadConfig, operatorLog, up } from 'meup'
import { onTestFinished } from 'vitest'

/** Runs the space of a folder in this process until the test is over, for tests of clients. */
export async function runSpace(folder: string): Promise<{ readonly url: string }> {
  const running = await up(loadConfig(join(folder, 'space.yaml')), operatorLog('silent'))
  onTestFinished(() => running.close())
  return running
}
