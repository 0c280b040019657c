import type { DiffLine, Hunk } from './diff.js'

/** A relevant changed line, with its position as `file:line`. */
export interface Finding {
  readonly place: string
  readonly code: string
}

/** Whether a line compares an expiry with something, as `claims.exp <= now()` does. Arrows compare nothing. */
const checksExpiry = ({ text }: DiffLine): boolean =>
  /\bexp(ir\w*)?\b/i.test(text) && /[<>]/.test(text.replaceAll('=>', ''))

const leavesEarly = ({ text }: DiffLine): boolean => /\bif\b.*\breturn\b/.test(text)

/** Expiry checks that the change takes away. What is only moved is still there. */
export function findRemovedChecks(hunks: readonly Hunk[]): Finding[] {
  const added = hunks.flatMap(({ lines }) => lines.filter(({ change }) => change === 'added'))
  const isStillThere = ({ text }: DiffLine): boolean => added.some((line) => line.text.trim() === text.trim())
  return find(hunks, (line) => line.change === 'removed' && checksExpiry(line) && !isStillThere(line))
}

/** New conditional returns above an expiry check, which they skip. */
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
