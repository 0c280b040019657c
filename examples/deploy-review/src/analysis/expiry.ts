import type { DiffLine, Hunk } from './diff.js'

/** A changed line that matters, with its position as `file:line`. */
export interface Finding {
  readonly place: string
  readonly code: string
}

/** Whether a line compares an expiry, as `claims.exp <= now()` does. The `>` of an arrow is not a comparison. */
const checksExpiry = ({ text }: DiffLine): boolean =>
  /\bexp(ir\w*)?\b/i.test(text) && /[<>]/.test(text.replaceAll('=>', ''))

const leavesEarly = ({ text }: DiffLine): boolean => /\bif\b.*\breturn\b/.test(text)

/** Finds the expiry checks that a change removes. Moved checks do not count. */
export function findRemovedChecks(hunks: readonly Hunk[]): Finding[] {
  const added = hunks.flatMap(({ lines }) => lines.filter(({ change }) => change === 'added'))
  const isStillThere = ({ text }: DiffLine): boolean => added.some((line) => line.text.trim() === text.trim())
  return find(hunks, (line) => line.change === 'removed' && checksExpiry(line) && !isStillThere(line))
}

/** Finds new conditional returns above an expiry check, which skip it. */
export function findWaysAround(hunks: readonly Hunk[]): Finding[] {
  return find(hunks, (line, { lines }) => {
    const check = lines.findLast((other) => other.change !== 'removed' && checksExpiry(other))
    const isAbove = check !== undefined && lines.indexOf(line) < lines.indexOf(check)
    return isAbove && line.change === 'added' && leavesEarly(line) && !checksExpiry(line)
  })
}

function find(hunks: readonly Hunk[], matters: (line: DiffLine, hunk: Hunk) => boolean): Finding[] {
  return hunks.flatMap((hunk) =>
    hunk.lines
      .filter((line) => matters(line, hunk))
      .map(({ number, text }) => ({ place: `${hunk.file}:${number}`, code: text.trim() })),
  )
}
