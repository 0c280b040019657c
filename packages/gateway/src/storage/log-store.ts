import { closedError } from '../log/error.js'
import type { EnvelopeLog, LogStore } from '../ports/envelope-log.js'
import { readDisk } from './disk.js'

/** How a store opens its logs, and stops after the last is closed. */
interface LogStoreParts extends Pick<LogStore, 'path'> {
  open(space: string, onClose: () => void): Promise<EnvelopeLog>
  stop(): Promise<void>
}

/** Opens each log once, however often it is requested; retries one that failed to open. */
export function logStore({ path, open, stop }: LogStoreParts): LogStore {
  const logs = new Map<string, Promise<EnvelopeLog>>()
  let closing: Promise<void> | undefined

  const openLog = async (space: string): Promise<EnvelopeLog> => {
    try {
      return await open(space, () => logs.delete(space))
    } catch (error) {
      logs.delete(space)
      throw error
    }
  }
  const close = async (): Promise<void> => {
    const opened = await Promise.allSettled(logs.values())
    await Promise.all(opened.map((log) => log.status === 'fulfilled' && log.value.close()))
    await stop()
  }

  return {
    ...(path !== undefined && { path, disk: () => readDisk(path) }),
    async open(space) {
      if (closing) throw closedError('store')
      const log = logs.get(space) ?? openLog(space)
      logs.set(space, log)
      return log
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
