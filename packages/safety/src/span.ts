/** Characters from `start` up to, and without, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The last of several, in order, that starts at `index` or before. */
export function lastFrom<Each extends { readonly start: number }>(
  ordered: readonly Each[],
  index: number,
): Each | undefined {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ordered[middle]?.start ?? 0) <= index) low = middle + 1
    else high = middle
  }
  return ordered[low - 1]
}
