import { fstatSync } from 'node:fs'
import { UsageError } from './exit.js'
import { formatBytes, printNotice } from './output.js'

/** Argument that selects stdin as the input. */
export const stdinWord = '-'

/** Maximum bytes read from stdin, well above the gateway's limit for an envelope. */
const maxBytes = 64 * 1024 * 1024
/** Milliseconds without input before a notice explains the wait. */
const noticeMs = 3000

/**
 * Whether something is piped or redirected into this process. A socket does not count: programs that start others leave one
 * open as their stdin, which never ends.
 */
export function hasPipedInput(): boolean {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isFile()
  } catch {
    return false // stdin is closed.
  }
}

/** Reads stdin to its end and trims it. Throws `UsageError` for binary data. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const notice = setTimeout(() => {
    printNotice('reading stdin; Ctrl+D ends it at a terminal, < /dev/null leaves it out')
  }, noticeMs)
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      clearTimeout(notice)
      bytes += chunk.length
      if (bytes > maxBytes) throw new UsageError('large_stdin', { size: formatBytes(maxBytes) })
      chunks.push(chunk)
    }
  } finally {
    clearTimeout(notice)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).trim()
  } catch {
    throw new UsageError('binary_stdin', {})
  }
}
