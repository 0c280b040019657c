/** Limits of logged lines per server: burst, and lines per second on average. */
const [burstLines, linesPerSecond] = [1000, 50]

/** Forwards lines to `log` within the limits, and logs the number of dropped ones. */
export function limitLines(log: ((line: string) => void) | undefined): (line: string) => void {
  let lines = burstLines
  let at = Date.now()
  let leftOut = 0
  return (line) => {
    const now = Date.now()
    lines = Math.min(burstLines, lines + Math.max(0, now - at) * (linesPerSecond / 1000))
    at = now
    // After lines were dropped, waits until several lines fit before it logs their number.
    if (lines < (leftOut > 0 ? linesPerSecond : 1)) return void leftOut++
    lines--
    if (leftOut > 0) log?.(`left out ${leftOut} lines: more than ${linesPerSecond} a second`)
    leftOut = 0
    log?.(line)
  }
}
