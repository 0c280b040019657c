/** Returns the candidate closest to a misspelt word, if one is near enough. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.min(2, candidate.length / 3))
  return near.sort((a, b) => a.distance - b.distance)[0]?.candidate
}

/** Counts the letters to insert, delete, replace, or transpose. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = at(row, j) + (letter === b[j] ? 0 : 1)
      const isSwapped = letter === b[j - 1] && a[i - 1] === b[j]
      const swapped = isSwapped ? at(before, j - 1) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, swapped, at(row, j + 1) + 1, at(next, j) + 1))
    }
    before = row
    row = next
  }
  return at(row, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY
