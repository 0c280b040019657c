/**
 * At most so many of what envelopes were made into, in the order of the log or against it; never only some of what one
 * envelope was made into, and so more than `limit` where one alone was made into more. `isAll` = nothing comes after.
 */
export async function readWhole<Item>(
  limit: number,
  read: (limit: number) => Promise<readonly Item[]>,
  seqOf: (item: Item) => number,
): Promise<{ readonly items: readonly Item[]; readonly isAll: boolean }> {
  for (let most = limit + 1; ; most *= 2) {
    const items = await read(most)
    const last = items.at(-1)
    if (last === undefined || items.length < most) return { items, isAll: true }
    const whole = items.filter((item) => seqOf(item) !== seqOf(last))
    if (whole.length > 0) return { items: whole, isAll: false }
  }
}
