import type { RowList } from '../model/index.js'
import type { RowsHandle } from './virtual-rows.js'

/** The ways to look at a space. */
export const views = ['stream', 'lanes', 'waterfall'] as const
export type ViewName = (typeof views)[number]

/** What the address names; the stream where it names nothing that there is. */
export const viewNamed = (name: string | undefined): ViewName =>
  views.find((each) => each === name) ?? 'stream'

/** What the page may ask of the view that is shown. */
export interface ViewHandle {
  /** The rows that the keys move through. */
  readonly list: RowList
  toEnd(): void
  /** Brings a row of the list into view and gives it the focus. */
  focus(index: number): void
  /** Brings the row of an envelope into view, with the focus unless that is to stay where it is. Gives its key; `undefined` = no row shows it. */
  reveal(id: string, isFocused?: boolean): string | undefined
}

export interface ViewProps {
  /** Key of the row that the keys are for. */
  readonly current: string | undefined
  readonly handle: (handle: ViewHandle) => void
}

/** A view that is one list of rows. */
export const viewOf = (rows: RowsHandle): ViewHandle => ({
  list: rows.list,
  toEnd: rows.toEnd,
  focus: rows.focus,
  reveal: (id, isFocused) => revealIn(rows, id, isFocused),
})

export function revealIn(
  { list, focus, show }: RowsHandle,
  id: string,
  isFocused = true,
): string | undefined {
  const index = list.indexOf(id)
  if (index === -1) return undefined
  if (isFocused) focus(index)
  else show(index)
  return list.slots[index]?.key
}
