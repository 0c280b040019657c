import { type DetailsOf, fillIn } from '@meup/protocol/error-texts'

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
 * - `driver`: the package better-sqlite3 cannot be loaded
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

/** The texts of errors of logs: what happened, with the values of `details`, then what to do. */
export const logTexts = {
  // Appending, pruning and checkpoints
  gap: 'The next seq of this log is {expected}, but the batch has {got}. Read the log from its head and append again from there.',
  duplicateId: "The id '{id}' is taken in this log. Give the envelope another id.",
  range:
    'A log of the rows {oldest} to {head} cannot be pruned through {through}. Keep at least the newest row.',
  checkpoint: 'A log of the rows {oldest} to {head} cannot have a checkpoint at {through}. Name one of them.',
  pruned: 'Seq {seq} was pruned during the export. Export again.',
  closed: 'The {what} has been closed. Open it again.',
  unwritable: 'The log of space {space} cannot be written. Try again later.',

  // Damage
  damagedRow: 'Row {seq} of the log cannot be read. Verify the log.',
  damagedColumn: 'Column {column} of row {seq} is damaged. Verify the log.',
  otherChain:
    'Row {seq} does not continue the chain of the replica, which ends at {head}. Restore the log from a copy, or set another storage.path if the replica is of another log.',
  shortLog: 'The log ends at {head}, but {acknowledged} has been acknowledged. Restore it from a copy.',

  // Files
  driver:
    'SQLite needs the package better-sqlite3, which {reason}. {advice} Or set storage.kind to memory, which needs no SQLite.',
  file: 'The log file could not be used: {reason}. {advice}',
  damagedFile:
    'The log file is damaged or not a log: {reason}. Restore it from a copy, or move it away to begin a new log.',
  locked: 'Another gateway has the log {path} open. Stop that gateway, or give this one another file.',
  format:
    'The log {path} has format {format}, and this gateway reads format {known}. Start a gateway of the version that wrote it, or give this one another file.',
  snapshotFormat:
    'The snapshot of the log has format {format}, and this gateway reads {oldest} to {newest}. Start a gateway of the version that wrote it.',
  foreignFile: '{path} is a database, but not a log. Give the gateway another file.',
  replaced: 'The log of space {space} has been replaced by another. Start the gateway again.',
  endedThread: 'A thread of the log has ended. Start the gateway again.',

  // Imports and backups
  occupied: "The space '{space}' in {path} has envelopes already. Take another file, or another name.",
  invalidRow: 'The envelope {seq} cannot be imported: {reason}. Export the log again.',
  otherHead: 'These envelopes end at {head}, and should at {expected}. Export the log again.',
  fileExists: '{path} exists already. Move it away, or name another file.',
  emptyFile: '{path} has no log yet. Name another file.',
  damagedBackup: 'The backup is damaged: {reason}. Take another one.',
  changedBackup: 'The envelope {seq} of {space} is missing or was changed. Take another backup.',
} as const

/** An error of an envelope log. Its message is a text of a table, with the values of `details`. */
export class LogError<Text extends string = string> extends Error {
  override readonly name = 'LogError'

  constructor(
    readonly code: LogErrorCode,
    text: Text,
    readonly details: DetailsOf<Text>,
    options?: ErrorOptions,
  ) {
    super(fillIn(text, details), options)
  }
}

export const gapError = (expected: number, got: number): LogError =>
  new LogError('gap', logTexts.gap, { expected, got })

export const duplicateIdError = (id: string): LogError =>
  new LogError('duplicate_id', logTexts.duplicateId, { id })

export const rangeError = (through: number, oldest: number, head: number): LogError =>
  new LogError('range', logTexts.range, { through, oldest, head })

export const checkpointError = (through: number, oldest: number, head: number): LogError =>
  new LogError('range', logTexts.checkpoint, { through, oldest, head })

export const closedError = (what: 'log' | 'store' | 'index'): LogError =>
  new LogError('closed', logTexts.closed, { what })

export const unwritableError = (space: string): LogError => new LogError('io', logTexts.unwritable, { space })
