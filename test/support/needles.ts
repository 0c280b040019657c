const keyBytes = 4

/**
 * Compiles many needles to a search that finds all of them at once in a haystack. Each needle must have at least four bytes.
 */
export function finderOf(needles: Iterable<string>): (haystack: string | Uint8Array) => string[] {
  const byKey = new Map<number, Buffer[]>()
  const mayBegin = new Uint8Array(2 ** 16)
  for (const needle of new Set(needles)) {
    const bytes = Buffer.from(needle)
    const key = bytes.readUInt32BE()
    byKey.set(key, [...(byKey.get(key) ?? []), bytes])
    mayBegin[key & 0xffff] = 1
  }
  return (haystack) => {
    const bytes = Buffer.from(haystack)
    const found = new Set<string>()
    for (let at = 0; at + keyBytes <= bytes.length; at++) {
      const key = bytes.readUInt32BE(at)
      if (mayBegin[key & 0xffff] === 0) continue
      for (const needle of byKey.get(key) ?? []) {
        if (needle.equals(bytes.subarray(at, at + needle.length))) found.add(needle.toString())
      }
    }
    return [...found]
  }
}
