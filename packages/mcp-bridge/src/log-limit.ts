/** Lines that one server may have in the log at once, and in the long run. */
const [burstLines, linesPerSecond] = [1000, 50]

/** Passes lines on to the log of the operator. What one server writes beyond its share is counted. */
export function limitLines(log: ((line: string) => void) | undefined): (line: string) => void {
  let lines = burstLines
  let at = Date.now()
  let leftOut = 0
  return (line) => {
    const now = Date.now()
    lines = Math.min(burstLines, lines + Math.max(0, now - at) * (linesPerSecond / 1000))
    at = now
    // Once lines were left out, some may follow each other again before the count is given.
    if (lines < (leftOut > 0 ? linesPerSecond : 1)) return void leftOut++
    lines--
    if (leftOut > 0) log?.(`left out ${leftOut} lines: more than ${linesPerSecond} a second`)
    leftOut = 0
    log?.(line)
  }
}
