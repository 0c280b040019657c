import { type Level, type Row, type SpaceModel, writeRoute } from '../model/index.js'
import type { Keymap } from './keys.js'

/** What keys can do on the page of a space. */
export interface Actions {
  readonly space: string
  readonly model: SpaceModel
  /** Index of the current line; -1 = there is none. */
  readonly at: number
  goTo(index: number): void
  /** Opens the inspector at the current line. */
  inspect(): void
  toEnd(): void
  /** The next answer to how much of others' thoughts is shown. */
  turnThoughts(): void
  help(): void
  redraw(): void
}

export function keymapOf(actions: Actions): Keymap {
  const { model, at, goTo, redraw } = actions
  const { rows } = model
  const context = contextOf(rows[at])
  const move = (by: number): void => goTo(Math.min(Math.max(at + by, 0), rows.length - 1))
  const fold = (level: Level): void => {
    if (context === undefined) return
    model.choose(context, level)
    redraw()
  }
  const foldAll = (level: Level): void => {
    model.chooseAll(level)
    redraw()
  }
  return {
    j: () => (at === -1 ? goTo(rows.length - 1) : move(1)),
    k: () => (at === -1 ? goTo(rows.length - 1) : move(-1)),
    l: () => fold(context !== undefined && model.levelOf(context) === 'closed' ? 'some' : 'all'),
    h: () => fold('closed'),
    ']': () => foldAll('all'),
    '[': () => foldAll('closed'),
    '.': () => actions.toEnd(),
    p: () => goTo(indexOfPending(model)),
    a: () => press('a'),
    x: () => press('x'),
    r: () => actions.turnThoughts(),
    y: () => copyLink(actions.space, rows[at]),
    Enter: () => actions.inspect(),
    '?': () => actions.help(),
  }
}

/** The oldest proposal that waits for a decision; -1 = there is none. */
export function indexOfPending(model: SpaceModel): number {
  const { rows } = model
  const [first] = model.pending(Date.now())
  return first === undefined ? -1 : rows.findIndex((row) => row.envelope.id === first.id)
}

/** The context that a line opens, or stands in. */
function contextOf(row: Row | undefined): string | undefined {
  if (row === undefined) return undefined
  return row.type === 'heading' || row.type === 'more' ? row.context : row.envelope.context
}

/** A button of the current line alone: nobody approves what they do not look at. */
const press = (key: string): void =>
  document.querySelector<HTMLButtonElement>(`[aria-current="true"] [data-key-press="${key}"]`)?.click()

/** The address bar has it in any case; some browsers keep the clipboard to themselves. */
function copyLink(space: string, row: Row | undefined): void {
  const seq = row?.envelope.seq
  history.replaceState(null, '', writeRoute({ space, ...(seq !== undefined && { seq }) }))
  navigator.clipboard?.writeText(location.href).catch((error: unknown) => console.info('not copied:', error))
}
