import { appendFileSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defaultGuard, guarded } from '@meup/folds'
import { getErrorMessage } from '@meup/protocol'
import { makeOwnFolder } from '../lib/own-folder.js'

/** Limits of the file: lines that are kept, lines at which the file is rewritten, and characters of a line. */
const [maxLines, maxFileLines, maxLineChars] = [1000, 2000, 10_000]

/** The lines that a participant has typed, in `.meup/history/<participant>` of this folder: JSON strings, one a line. */
export class InputHistory {
  /** The newest first. */
  readonly lines: readonly string[]
  readonly #file: string | undefined
  #last: string | undefined

  private constructor(file: string | undefined, lines: readonly string[]) {
    this.#file = file
    this.lines = lines.toReversed()
    this.#last = lines.at(-1)
  }

  /** Without a `.meup` folder, or where the file cannot be used, nothing is kept; `complain` gets the reason. */
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

  /** Keeps a line, unless it begins with a space, is long, or holds a secret. */
  add(line: string): void {
    const isSecret = guarded(line, defaultGuard) !== line
    if (line === this.#last || line.startsWith(' ') || line.length > maxLineChars || isSecret) return
    this.#last = line
    if (this.#file === undefined) return
    try {
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    } catch {
      // The conversation continues without it.
    }
  }
}

/** Throws if the file belongs to another user, who could read or choose what is sent. */
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

/** A line that was cut is left out. */
function parseLine(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
