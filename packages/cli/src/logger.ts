import type { Logger } from '@meup/gateway'
import { pino } from 'pino'

/** Where a token or a key might stand in what is logged; nothing logs them, and should something do so, they are cut. */
const secrets = ['token', 'authorization', 'headers', 'env', 'jwks'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
])

/** The operator's log, on stderr. */
export const operatorLog = (level: 'info' | 'warn' | 'silent'): Logger =>
  pino({ level, base: null, redact: secrets }, pino.destination({ dest: 2, sync: true }))
