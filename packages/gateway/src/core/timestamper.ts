/** Gives milliseconds as RFC 3339 with milliseconds; formatted once per millisecond. */
export function timestamper(): (ms: number) => string {
  const instant = { ms: -1, text: '' }
  return (ms) => {
    if (instant.ms !== ms) {
      instant.ms = ms
      instant.text = new Date(ms).toISOString()
    }
    return instant.text
  }
}
