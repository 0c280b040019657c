import { contextParent } from '@meup/protocol'
import type { Level, RowList, Slot, SpaceModel } from '../model/index.js'
import { updateAddress } from './shared/hooks.js'
import { type ViewName, viewNames } from './view-tabs.js'

/** Actions that keys trigger, and the state that they need. */
interface Actions {
  readonly model: SpaceModel
  /** Rows of the current view. */
  readonly list: RowList
  readonly view: ViewName
  /** Index of the current row; -1 if there is none. */
  readonly at: number
  goTo(index: number): void
  /** Opens the oldest open proposal. */
  toPending(): void
  /** Undoes the decision that is not sent yet. */
  undo(): void
  /** Opens the inspector for the current row. */
  inspect(): void
  toEnd(): void
  /** Plays or pauses the log. */
  playOrStop(): void
  /** Switches to the next level of reasoning detail. */
  turnThoughts(): void
  turn(view: ViewName): void
  search(): void
  /** Explains the current row. */
  why(): void
  inbox(): void
  write(): void
  toFilters(): void
  help(): void
  redraw(): void
  notify(notice: string): void
}

export function createKeymap(actions: Actions): Keymap {
  const { list, at, goTo } = actions
  const { slots } = list
  const move = (by: number): void => {
    if (!moveInQueue(by)) goTo(Math.min(Math.max(at + by, 0), slots.length - 1))
  }
  const keymap: Keymap = {
    ...foldKeys(actions),
    j: () => move(at === -1 ? slots.length : 1),
    k: () => move(at === -1 ? slots.length : -1),
    '.': () => actions.toEnd(),
    ' ': () => actions.playOrStop(),
    p: () => actions.toPending(),
    n: () => void press('n'),
    u: () => actions.undo(),
    w: () => actions.why(),
    c: () => actions.write(),
    i: () => actions.inbox(),
    r: () => actions.turnThoughts(),
    y: () => {
      if (!press('y')) copyLink(slots[at], actions.notify)
    },
    Enter: () => {
      if (!press('Enter')) actions.inspect()
    },
    '/': () => actions.search(),
    f: () => actions.toFilters(),
    '?': () => actions.help(),
    ...Object.fromEntries(viewNames.map((view, index) => [`${index + 1}`, () => actions.turn(view)])),
  }
  return actions.view === 'stream' ? keymap : { ...keymap, ...arrowKeys(keymap) }
}

/** Chooses the next (1) or previous (-1) entry of the inbox; `false` if the inbox is not open. */
function moveInQueue(by: number): boolean {
  const entries = [...document.querySelectorAll<HTMLElement>('.queue .entry')]
  const at = entries.findIndex((each) => each.getAttribute('aria-current') === 'true')
  const next = entries[Math.min(Math.max(at + Math.sign(by), 0), entries.length - 1)]
  next?.click()
  next?.focus()
  return next !== undefined
}

/**
 * Presses the button for a key: in the inbox's open entry, otherwise in the focused row or its detail. Other rows are ignored,
 * so that a key never decides about one that is not in view. Returns `false` if there is no such button.
 */
function press(key: string): boolean {
  const row = document.activeElement?.closest('[aria-current="true"]')
  const shown = document.querySelector('.review') ?? (row && document.querySelector('.trace-detail')) ?? row
  const button = shown?.querySelector<HTMLButtonElement>(`[data-key-press="${key}"]`)
  button?.click()
  return button != null
}

/** Copies a link to the row. If the browser denies access to the clipboard, the address bar has it. */
function copyLink(slot: Slot | undefined, notify: (notice: string) => void): void {
  updateAddress({ seq: slot?.envelope.seq })
  const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error('no clipboard'))
  copied.then(
    () => notify('the link is copied'),
    (error: unknown) => {
      console.info('not copied:', error)
      notify('the link is in the address bar')
    },
  )
}

/** `l` unfolds a context by one level; `h` folds it, or goes from a folded one to its parent. */
function foldKeys({ model, list, at, goTo, redraw }: Actions): Keymap {
  const slot = list.slots[at]
  const context = slot?.context ?? slot?.envelope.context
  const toHeading = (of: string): void =>
    goTo(list.slots.findIndex((each) => each.type === 'heading' && each.context === of))
  const choose = (level: Level): void => {
    if (context === undefined) return
    model.choose(context, level)
    redraw()
  }
  // The level that the row shows: if the reader has not chosen one, it depends on the view.
  const heading = list.slots.find((each) => each.type === 'heading' && each.context === context)
  const row = heading && list.getRow(heading)
  const level = row?.type === 'heading' ? row.level : 'all'
  const close = (): void => {
    if (context === undefined) return
    if (slot?.type === 'heading' && level === 'closed') {
      const outer = contextParent(context)
      if (outer !== undefined) toHeading(outer)
      return
    }
    choose('closed')
    toHeading(context)
  }
  const all = (level: Level): void => {
    model.chooseAll(level)
    redraw()
  }
  return {
    l: () => choose(level === 'closed' ? 'some' : 'all'),
    h: close,
    ']': () => all('all'),
    '[': () => all('closed'),
  }
}

/** In views with trees, arrow keys act like the letters. */
function arrowKeys(keymap: Keymap): Keymap {
  const arrows = { ArrowDown: 'j', ArrowUp: 'k', ArrowRight: 'l', ArrowLeft: 'h' }
  return Object.fromEntries(
    Object.entries(arrows).flatMap(([arrow, letter]) => {
      const act = keymap[letter]
      return act === undefined ? [] : [[arrow, act]]
    }),
  )
}

export type Keymap = Readonly<Record<string, () => void>>

/** Whether a text field has the focus or a dialog is open. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input:not([type=range], [type=checkbox]), textarea, select, dialog') !== null

/** Listens for keys without modifiers, and for Ctrl+K, which opens the palette. Returns a function that stops listening. */
export function listenToKeys(keymap: () => Keymap, openPalette: () => void): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
      event.preventDefault()
      openPalette()
      return
    }
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
    // Ignores repetition of a held key, which could decide more than once.
    if (act === undefined || isButton || (event.repeat && event.key === 'y')) return
    event.preventDefault()
    act()
  }
  addEventListener('keydown', pressed)
  return () => removeEventListener('keydown', pressed)
}
