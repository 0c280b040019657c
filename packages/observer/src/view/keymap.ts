import type { RowList, Slot, SpaceModel } from '../model/index.js'
import { amendAddress } from './address.js'
import { arrowKeys, foldKeys } from './fold-keys.js'
import type { Keymap } from './keys.js'
import { type ViewName, views } from './view.js'

/** What keys can do on the page of a space. */
export interface Actions {
  readonly space: string
  readonly model: SpaceModel
  /** The lines that the keys move through. */
  readonly list: RowList
  readonly view: ViewName
  /** Index of the current line; -1 = there is none. */
  readonly at: number
  goTo(index: number): void
  /** To the oldest proposal that waits for a decision. */
  toPending(): void
  /** Opens the inspector at the current line. */
  inspect(): void
  toEnd(): void
  /** Time goes on, or stands still. */
  playOrStop(): void
  /** The next answer to how much of others' thoughts is shown. */
  turnThoughts(): void
  /** Shows another view. */
  turn(view: ViewName): void
  search(): void
  toFilters(): void
  help(): void
  redraw(): void
}

export function keymapOf(actions: Actions): Keymap {
  const { list, at, goTo } = actions
  const { slots } = list
  const move = (by: number): void => goTo(Math.min(Math.max(at + by, 0), slots.length - 1))
  const keymap: Keymap = {
    ...foldKeys(actions),
    j: () => (at === -1 ? goTo(slots.length - 1) : move(1)),
    k: () => (at === -1 ? goTo(slots.length - 1) : move(-1)),
    '.': () => actions.toEnd(),
    ' ': () => actions.playOrStop(),
    p: () => actions.toPending(),
    a: () => press('a'),
    x: () => press('x'),
    r: () => actions.turnThoughts(),
    y: () => copyLink(slots[at]),
    Enter: () => actions.inspect(),
    '/': () => actions.search(),
    f: () => actions.toFilters(),
    '?': () => actions.help(),
    ...Object.fromEntries(views.map((view, index) => [`${index + 1}`, () => actions.turn(view)])),
  }
  return actions.view === 'stream' ? keymap : { ...keymap, ...arrowKeys(keymap) }
}

/** A button of the line that has the focus, and of no other: nobody decides on what they do not look at. */
const press = (key: string): void =>
  document.activeElement
    ?.closest('[aria-current="true"]')
    ?.querySelector<HTMLButtonElement>(`[data-key-press="${key}"]`)
    ?.click()

/** The address bar has it in any case; some browsers keep the clipboard to themselves. */
function copyLink(slot: Slot | undefined): void {
  amendAddress({ seq: slot?.envelope.seq })
  navigator.clipboard?.writeText(location.href).catch((error: unknown) => console.info('not copied:', error))
}
