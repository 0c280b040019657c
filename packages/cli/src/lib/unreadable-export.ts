import { basename } from 'node:path'
import { UsageError } from './exit.js'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you may not read it',
}

/** Explains why an export could not be opened. Returns other errors unchanged. */
export function explainUnreadable(file: string, error: unknown): unknown {
  const reason = reasons[String(Object(error).code)]
  if (reason === undefined) return error
  return new UsageError('unreadable_export', { file, reason, name: basename(file) })
}
