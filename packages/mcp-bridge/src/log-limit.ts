/** Logged lines per server: burst, and long-term rate. */
const [burstLines, linesPerSecond] = [1000, 50]

/** Forwards lines to the operator's log, counting those beyond the server's share. */
export function limitLines(log: ((line: string) => void) | undefined): (line: string) => void {
  let lines = burstLines
  let at = Date.now()
  let leftOut = 0
  return (line) => {
    const now = Date.now()
    lines = Math.min(burstLines, lines + Math.max(0, now - at) * (linesPerSecond / 1000))
    at = now
    // Once lines were dropped, several must fit before the count is logged.
    if (lines < (leftOut > 0 ? linesPerSecond : 1)) return void leftOut++
    lines--
    if (leftOut > 0) log?.(`left out ${leftOut} lines: more than ${linesPerSecond} a second`)
    leftOut = 0
    log?.(line)
  }
}
