/**
 * - `gap`: the batch does not continue the log
 * - `duplicate_id`: the log, or the batch itself, already has an envelope with this id
 * - `range`: the boundary of a pruning is the newest row, or already pruned; a checkpoint covers a row that does not exist
 * - `closed`: the log or its store was closed
 * - `format`: another version of this software wrote the file
 * - `corrupt`: the file is damaged, or not a log of this software
 * - `locked`: another gateway has the file open
 * - `occupied`: the target space of an import already has envelopes
 * - `io`: the disk or the thread that writes to it failed
 * - `unavailable`: the servers that share the log do not answer, or do not agree
 * - `fenced`: another gateway now writes this log
 * - `server`: the servers that share the log are too old, or refuse this gateway
 */
export type LogErrorCode =
  | 'gap'
  | 'duplicate_id'
  | 'range'
  | 'closed'
  | 'format'
  | 'corrupt'
  | 'locked'
  | 'occupied'
  | 'io'
  | 'driver'
  | 'unavailable'
  | 'fenced'
  | 'server'

/** An error of an envelope log. The message includes what to do. */
export class LogError extends Error {
  override readonly name = 'LogError'

  constructor(
    readonly code: LogErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export function gapError(expected: number, got: number): LogError {
  const advice = 'Read the log from its head and append again from there.'
  return new LogError('gap', `The next seq of this log is ${expected}, but the batch has ${got}. ${advice}`)
}

export function duplicateIdError(id: string): LogError {
  return new LogError('duplicate_id', `The id '${id}' is taken in this log. Give the envelope another id.`)
}

export function rangeError(through: number, oldest: number, head: number): LogError {
  const kept = `This log has the rows ${oldest} to ${head}`
  return new LogError(
    'range',
    `${kept}; it cannot be pruned through ${through}. Keep at least the newest row.`,
  )
}

export function checkpointError(through: number, oldest: number, head: number): LogError {
  const kept = `This log has the rows ${oldest} to ${head}`
  return new LogError('range', `${kept}; a checkpoint at ${through} is impossible. Name one of them.`)
}

export function occupiedError(space: string, path: string): LogError {
  const advice = 'Take another file, or another name.'
  return new LogError('occupied', `The space '${space}' in ${path} has envelopes already. ${advice}`)
}

export function closedError(what: string): LogError {
  return new LogError('closed', `The ${what} has been closed. Open it again.`)
}
