/** Whether the tests run with full counts for fuzzing and endurance, overnight (`pnpm test:soak`). */
export const isSoak = process.env.MEUP_SOAK === '1'

/** A number of tries: `usual` in normal runs, `soak` overnight. */
export const times = (usual: number, soak: number): number => (isSoak ? soak : usual)

/** The items to try: the first `usual` ones in normal runs, all of them overnight. */
export const some = <Item>(items: readonly Item[], usual: number): readonly Item[] =>
  isSoak ? items : items.slice(0, usual)
