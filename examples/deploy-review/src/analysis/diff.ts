import { Unreadable } from './unreadable.js'

export interface DiffLine {
  readonly change: 'added' | 'removed' | 'kept'
  /** Line number in the changed file; for a removed line, in the original file. */
  readonly number: number
  readonly text: string
}

/** A hunk of a diff: consecutive lines around a change. */
export interface Hunk {
  readonly file: string
  readonly lines: readonly DiffLine[]
}

const fileName = /^(?:---|\+\+\+) (?:[ab]\/)?([^\t]+)/
const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Parses a unified diff, as `git diff` and `diff -u` write it. Throws `Unreadable` if the text is not one. */
export function parseDiff(diff: string): Hunk[] {
  const hunks: Hunk[] = []
  const rows = diff.replace(/\n$/, '').split(/\r?\n/)
  let file = ''
  while (rows.length > 0) {
    const row = rows.shift() ?? ''
    const name = fileName.exec(row)?.[1] ?? '/dev/null'
    const header = hunkHeader.exec(row)
    if (header !== null) hunks.push({ file, lines: takeLines(rows, header) })
    else if (name !== '/dev/null') file = name // A deleted file has only the name it had before.
  }
  if (hunks.length === 0) throw new Unreadable('the diff holds no change')
  return hunks
}

/** Takes as many lines as the header of the hunk says, because a line in it may look like a header of a file. */
function takeLines(
  rows: string[],
  [, from, oldCount = '1', to, newCount = '1']: readonly string[],
): DiffLine[] {
  const lines: DiffLine[] = []
  let [before, after] = [Number(from), Number(to)]
  const [oldEnd, newEnd] = [before + Number(oldCount), after + Number(newCount)]
  while (before < oldEnd || after < newEnd) {
    const row = rows.shift()
    if (row === undefined) throw new Unreadable('the diff ends in the middle of a change')
    const text = row.slice(1)
    if (row.startsWith('+')) lines.push({ change: 'added', number: after++, text })
    else if (row.startsWith('-')) lines.push({ change: 'removed', number: before++, text })
    else if (!row.startsWith('\\')) {
      lines.push({ change: 'kept', number: after++, text })
      before++
    }
  }
  return lines
}
