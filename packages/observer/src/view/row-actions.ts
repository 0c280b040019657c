import type { JSX } from 'preact'
import type { Row } from '../model/index.js'
import { useDesk } from './desk.js'

type Handlers = Required<Pick<JSX.HTMLAttributes<HTMLElement>, 'onClick' | 'onFocus'>>

/** What every row does: a click looks at its envelope, and the keys are for the one that has the focus. */
export function useRowActions(row: Row, isCurrent: boolean): Handlers {
  const { look, select } = useDesk()
  return {
    onClick: ({ target }) => {
      const isControl = target instanceof Element && target.closest('button, input, a') !== null
      if (!isControl && getSelection()?.isCollapsed !== false) look(row.envelope.id)
    },
    onFocus: ({ target, currentTarget }) => {
      if (target === currentTarget && !isCurrent) select(row.key)
    },
  }
}
