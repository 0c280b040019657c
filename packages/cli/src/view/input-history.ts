import { appendFileSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defaultGuard, guarded } from '@meup/folds'
import { getErrorMessage } from '@meup/protocol'
import { makeOwnFolder } from '../lib/own-folder.js'

/** Lines kept, lines at which the file is rewritten, and maximum characters of a line. */
const [maxLines, maxFileLines, maxLineChars] = [1000, 2000, 10_000]

/** Input history of a participant, in `.meup/history/<participant>`: JSON strings, one per line. */
export class InputHistory {
  /** Lines, newest first. */
  readonly lines: readonly string[]
  readonly #file: string | undefined
  #last: string | undefined

  private constructor(file: string | undefined, lines: readonly string[]) {
    this.#file = file
    this.lines = lines.toReversed()
    this.#last = lines.at(-1)
  }

  /**
   * Opens the history. Without a `.meup` folder, or if the file cannot be used, lines are not saved; `complain` gets the
   * reason.
   */
  static open(
    participant: string,
    complain: (reason: string) => void,
    folder = resolve('.meup'),
  ): InputHistory {
    if (!existsSync(folder)) return new InputHistory(undefined, [])
    const file = join(folder, 'history', encodeURIComponent(participant))
    try {
      makeOwnFolder(dirname(file))
      return new InputHistory(file, readLines(file))
    } catch (error) {
      complain(`… what you type is not kept: ${getErrorMessage(error)}`)
      return new InputHistory(undefined, [])
    }
  }

  /** Saves a line, unless it repeats the last one, begins with a space, is too long, or contains a secret. */
  add(line: string): void {
    const isSecret = guarded(line, defaultGuard) !== line
    if (line === this.#last || line.startsWith(' ') || line.length > maxLineChars || isSecret) return
    this.#last = line
    if (this.#file === undefined) return
    try {
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    } catch {
      // The conversation continues without a history.
    }
  }
}

/** Throws if the file is not private: another user could read the history, or plant text in it. */
function readLines(file: string): string[] {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (!stat.isFile() || stat.uid !== userInfo().uid || (stat.mode & 0o077) !== 0)
    throw new Error(`${file} is not a file for you alone (mode 600); correct or delete it`)
  const lines = readFileSync(file, 'utf8').split('\n').flatMap(parseLine)
  const kept = lines.slice(-maxLines)
  if (lines.length > maxFileLines)
    writeFileSync(file, kept.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
  return kept
}

/** Parses a stored line; ignores an incomplete one. */
function parseLine(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
