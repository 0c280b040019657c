const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** The two largest units: `0.4 s`, `8 s`, `3 min 20 s`, `2 h 5 min`, `3 d`. Never negative. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Number((Math.max(milliseconds, 0) / 1000).toFixed(1))} s`
  const seconds = Math.round(milliseconds / 1000)
  const at = units.findIndex(([, size]) => seconds >= size)
  const [name, size] = units[at] ?? ['s', 1]
  const [nextName, nextSize] = units[at + 1] ?? ['', size]
  const rest = Math.floor((seconds % size) / nextSize)
  return `${Math.floor(seconds / size)} ${name}${rest === 0 ? '' : ` ${rest} ${nextName}`}`
}
