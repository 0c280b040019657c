// ARIA attributes of tables and trees that have only some of their rows in the document.

interface Place {
  /** Position of the row, from 1. */
  readonly index: number
  /** Depth in the tree, from 1. */
  readonly level: number
  /** `undefined` if the row cannot be unfolded. */
  readonly isOpen: boolean | undefined
}

/** ARIA attributes of a table that has only some of its rows in the document. */
export const tableRoles = {
  table: (label: string, count: number) => ({
    ...{ role: 'table' as const, 'aria-label': label, 'aria-rowcount': count },
  }),
  group: { role: 'rowgroup' as const },
  row: (index: number) => ({ role: 'row' as const, 'aria-rowindex': index }),
  head: (isSorted: boolean) => ({
    ...{ role: 'columnheader' as const, 'aria-sort': isSorted ? ('descending' as const) : ('none' as const) },
  }),
  cell: { role: 'cell' as const },
}

/** ARIA attributes of a tree with columns. Not an HTML table, because only some rows are in the document. */
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
  /** A row whose text is still being written: screen readers ignore it until it is complete. */
  writtenRow: { role: 'row' as const, 'aria-live': 'off' as const, 'aria-busy': true },
  cell: { role: 'gridcell' as const },
}
