import { pino } from 'pino'
import { type LogLevel, type OperatorLog, secretNames } from './logger.js'

const secrets = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

/** Lines on stderr within this interval are logged as one event (such as a stack), up to this many characters. */
const [blockMs, maxBlockChars] = [20, 64 * 1024]

/** An `OperatorLog` that prints JSON lines on stderr. In its own file, so that pino is loaded only if needed. */
export function jsonLog(level: LogLevel): OperatorLog {
  const isSilent = level === 'silent'
  const all = pino(
    {
      level: isSilent ? 'silent' : 'info',
      base: null,
      redact: secrets,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 2, sync: true }),
  )
  const blocks = new Map<string, { text: string; readonly timer: NodeJS.Timeout }>()
  const flush = (participant: string): void => {
    const block = blocks.get(participant)
    if (block === undefined) return
    clearTimeout(block.timer)
    blocks.delete(participant)
    all.warn({ participant, stream: 'stderr', text: block.text }, 'output')
  }
  const flushAll = (): void => [...blocks.keys()].forEach(flush)
  process.once('exit', flushAll)
  /** Flushes buffered output first, so that events are in order. */
  const inOrder =
    (write: (fields: object, message: string) => void) =>
    (fields: object, message: string): void => {
      flushAll()
      write(fields, message)
    }
  const write = {
    notice: inOrder((fields, message) => all.info(fields, message)),
    warn: inOrder((fields, message) => all.warn(fields, message)),
    error: inOrder((fields, message) => all.error(fields, message)),
  }
  return {
    ...write,
    info: level === 'info' ? write.notice : () => {},
    program: (mark, fields, message) => write[mark](fields, message),
    output({ participant, stream, text }) {
      if (stream === 'stdout') return all.info({ participant, stream, text }, 'output')
      const block = blocks.get(participant)
      if (block !== undefined && block.text.length + text.length < maxBlockChars) {
        block.text += `\n${text}`
        block.timer.refresh()
        return
      }
      flush(participant)
      blocks.set(participant, { text, timer: setTimeout(() => flush(participant), blockMs) })
    },
  }
}
