import { useReducer } from 'preact/hooks'

/** Ids of rows that were opened in place: kept here since rows out of view are not in the document. */
const opened = new Set<string>()

export const openInPlace = (id: string): void => void opened.add(id)

/** Whether a row is open, and a function to toggle it. */
export function useOpened(id: string): readonly [isOpen: boolean, toggle: () => void] {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const toggle = (): void => {
    if (!opened.delete(id)) opened.add(id)
    redraw()
  }
  return [opened.has(id), toggle]
}
