import { stripVTControlCharacters } from 'node:util'
import { brief, colourStyle, onOneLine, plainStyle, printable } from '@meup/folds'
import type { Logger } from '@meup/gateway'
import { getErrorMessage } from '@meup/protocol'
import { createHighlighter } from './output.js'

/** A line of a program's output. */
export interface OutputLine {
  readonly space: string
  readonly participant: string
  readonly kind: 'process' | 'mcp' | 'acp'
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** The messages of a gateway and its programs to the person who runs them with `meup up`. */
export interface OperatorLog extends Logger {
  /** Logged at every level except `silent`. */
  notice(fields: object, message: string): void
  output(line: OutputLine): void
  /** Logs an event of a program, with the time, at every level except `silent`. */
  program(level: 'notice' | 'warn' | 'error', fields: object, message: string): void
}

export type LogLevel = 'info' | 'warn' | 'silent'

export interface LogOptions {
  /** Default `errors`: only the stderr of programs of kind `process`. */
  readonly output?: 'all' | 'errors'
  /** Characters of the longest participant id, which aligns the columns. */
  readonly nameWidth?: number
}

/** An `OperatorLog` that prints text: events and the stderr of programs on stderr, their stdout on stdout. */
export function operatorLog(
  level: LogLevel,
  { output = 'errors', nameWidth = 0 }: LogOptions = {},
): OperatorLog {
  if (level === 'silent') return silent
  let width = nameWidth
  const writeLine = (mark: string) => (fields: object, message: string) => {
    process.stderr.write(`${mark}${messageLine(fields, message, level)}\n`)
  }
  return {
    info: level === 'info' ? writeLine('') : () => {},
    notice: writeLine(''),
    warn: writeLine('! '),
    error: writeLine('✗ '),
    program(mark, { err }: { readonly err?: unknown }, message) {
      const line = messageLine(err === undefined ? {} : { err }, message, level)
      process.stderr.write(`${formatClock(Date.now())}  ${marks[mark]}${line}\n`)
    },
    output({ participant, kind, stream, text }) {
      if (output === 'errors' && (kind !== 'process' || stream !== 'stderr')) return
      width = Math.max(width, participant.length)
      const to = process[stream]
      const style = to.isTTY && to.hasColors() ? colourStyle : plainStyle
      const name = createHighlighter(style)(participant.padEnd(width), participant)
      to.write(`${name} | ${printable(stripVTControlCharacters(text))}`.trimEnd().concat('\n'))
    },
  }
}

const marks = { notice: '', warn: '! ', error: '✗ ' } as const

/** Local time, such as `18:27:05`. */
export const formatClock = (ms: number): string => {
  const date = new Date(ms)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

const silent: OperatorLog = {
  info: () => {},
  notice: () => {},
  warn: () => {},
  error: () => {},
  output: () => {},
  program: () => {},
}

/** Names of fields that may hold secrets. They are never printed, even if code logs them. */
export const secretNames = ['token', 'authorization', 'headers', 'env', 'jwks'] as const

/** A message, the error, and the fields that the message does not mention; at level `info` with the stack. */
function messageLine(fields: object, message: string, level: LogLevel): string {
  const { err, ...others } = fields as { readonly err?: unknown }
  const details = Object.entries(others).flatMap(([name, value]) => {
    const text = formatDetail(value)
    const isInMessage = text === undefined || message.includes(text)
    return isInMessage || secretNames.some((secret) => secret === name) ? [] : [`${name} ${text}`]
  })
  const reason = err === undefined ? '' : `: ${onOneLine(getErrorMessage(err))}`
  const line = `${printable(message)}${reason}${details.length === 0 ? '' : ` (${details.join(', ')})`}`
  const stack = level === 'info' && err instanceof Error ? err.stack : undefined
  return stack === undefined ? line : `${line}\n${printable(stack)}`
}

const maxDetailChars = 200

function formatDetail(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const texts = value.flatMap((each) => formatDetail(each) ?? [])
    return texts.length === 0 ? undefined : brief(texts.join(' '), maxDetailChars)
  }
  return typeof value === 'string' || typeof value === 'number'
    ? brief(String(value), maxDetailChars)
    : undefined
}
