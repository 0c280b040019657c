const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads `500ms`, `30s`, `5m`, `2h` or `7d` and returns milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(ms|[smhd])$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(amount) * units[unit as keyof typeof units]
}

/** `0.4 s`, `8 s`, `3 min 20 s`, `2 h 5 min`. Never negative. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(milliseconds, 0) / 1000
  if (seconds < 1) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
