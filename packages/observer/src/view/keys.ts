/** What the keys of the page do, by the key. */
export type Keymap = Readonly<Record<string, () => void>>

/** Whether somebody is writing, or has a dialog before them. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input:not([type=range], [type=checkbox]), textarea, select, dialog') !== null

/** Listens to keys that are pressed alone. Gives what ends that. */
export function listenToKeys(keymap: () => Keymap): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (isElsewhere(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur()
      return
    }
    const isButton =
      (event.key === 'Enter' || event.key === ' ') &&
      event.target instanceof Element &&
      event.target.closest('button')
    const act = keymap()[event.key]
    if (act === undefined || isButton) return
    event.preventDefault()
    act()
  }
  addEventListener('keydown', pressed)
  return () => removeEventListener('keydown', pressed)
}
