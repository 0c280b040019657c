import type { Logger } from '@meup/gateway'
import { pino } from 'pino'

/** The operator's log, on stderr. */
export const operatorLog = (level: 'info' | 'warn' | 'silent'): Logger =>
  pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
