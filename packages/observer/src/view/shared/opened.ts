import { useReducer } from 'preact/hooks'

/** Ids of rows whose details are open, kept here because rows outside the visible part are removed from the document. */
const opened = new Set<string>()

export const openInPlace = (id: string): void => void opened.add(id)

/** Whether a row's details are open, and a function to toggle that. */
export function useOpened(id: string): readonly [isOpen: boolean, toggle: () => void] {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const toggle = (): void => {
    if (!opened.delete(id)) opened.add(id)
    redraw()
  }
  return [opened.has(id), toggle]
}
