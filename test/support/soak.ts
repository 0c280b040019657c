/** Whether this is `pnpm test:soak`: fuzz and endurance at full counts, for a night. */
export const isSoak = process.env.MEUP_SOAK === '1'

/** How often to try: `usual` times in every run of the tests, `soak` times in a night. */
export const times = (usual: number, soak: number): number => (isSoak ? soak : usual)

/** The items to try: the first `usual` ones in every run of the tests, all of them in a night. */
export const some = <Item>(items: readonly Item[], usual: number): readonly Item[] =>
  isSoak ? items : items.slice(0, usual)
