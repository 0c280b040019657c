import { pino } from 'pino'
import { type LogLevel, type OperatorLog, secretNames } from './logger.js'

const secrets = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

/** The operator's log as JSON lines on stderr. A file of its own, so that pino is loaded only if needed. */
export function jsonLog(level: LogLevel): OperatorLog {
  const isSilent = level === 'silent'
  const all = pino(
    { level: isSilent ? 'silent' : 'info', base: null, redact: secrets },
    pino.destination({ dest: 2, sync: true }),
  )
  return {
    info: level === 'info' ? (fields, message) => all.info(fields, message) : () => {},
    notice: (fields, message) => all.info(fields, message),
    warn: (fields, message) => all.warn(fields, message),
    error: (fields, message) => all.error(fields, message),
    output({ participant, stream, text }) {
      all[stream === 'stderr' ? 'warn' : 'info']({ participant, stream, line: text }, 'output')
    },
  }
}
