interface Place {
  /** From 1. */
  readonly index: number
  /** How deep it is in the tree, from 1. */
  readonly level: number
  /** Absent: it has nothing to open. */
  readonly isOpen: boolean | undefined
}

/** Roles of a tree in rows and columns. It is no table: only some of its rows are in the document. */
export const grid = {
  tree: (label: string, count: number) => ({
    ...{ role: 'treegrid' as const, 'aria-label': label, 'aria-rowcount': count },
  }),
  group: { role: 'rowgroup' as const },
  headRow: { role: 'row' as const, 'aria-rowindex': 1 },
  head: (label: string) => ({ role: 'columnheader' as const, 'aria-label': label }),
  row: ({ index, level, isOpen }: Place) => ({
    ...{ role: 'row' as const, 'aria-rowindex': index, 'aria-level': level, 'aria-expanded': isOpen },
  }),
  cell: { role: 'gridcell' as const },
}
