import type { JSX } from 'preact'
import type { LogRow } from '../../model/index.js'
import { grid } from './table-roles.js'
import { useSpace } from './use-space.js'
import type { RowProps } from './virtual-rows.js'

type Handlers = Required<Pick<JSX.HTMLAttributes<HTMLElement>, 'onClick' | 'onFocus'>>

/** Event handlers of a row: a click or focus selects it. */
export function useRowActions(row: LogRow, isCurrent: boolean): Handlers {
  const { select } = useSpace()
  return {
    onClick: ({ target }) => {
      const isControl =
        target instanceof Element && target.closest('button, input, select, a, summary') !== null
      if (!isControl && getSelection()?.isCollapsed !== false) select(row)
    },
    onFocus: ({ target, currentTarget }) => {
      if (target === currentTarget && !isCurrent) select(row)
    },
  }
}

/** Attributes of a tree row. `before`: number of rows of the same tree that precede the list, such as its column titles. */
export function useTreeRow({ row, index, isCurrent, isEntry }: RowProps, before: number) {
  const actions = useRowActions(row, isCurrent)
  const isOpen = row.type === 'heading' ? row.level !== 'closed' : undefined
  return {
    'data-key': row.key,
    ...grid.row({ index: index + 1 + before, level: row.depth + 1, isOpen }),
    'aria-current': isCurrent,
    tabIndex: isEntry ? 0 : -1,
    ...actions,
  }
}
