import { contextParent } from '@meup/protocol'
import type { Level, RowList, SpaceModel } from '../model/index.js'
import type { Keymap } from './keys.js'

/** What folding by keys needs. */
export interface Folds {
  readonly model: SpaceModel
  readonly list: RowList
  /** Index of the current line; -1 = there is none. */
  readonly at: number
  goTo(index: number): void
  redraw(): void
}

/** `l` opens a context step by step, `h` closes it, and goes from a closed one to the one around it. */
export function foldKeys({ model, list, at, goTo, redraw }: Folds): Keymap {
  const slot = list.slots[at]
  const context = slot?.context ?? slot?.envelope.context
  const toHeading = (of: string): void =>
    goTo(list.slots.findIndex((each) => each.type === 'heading' && each.context === of))
  const choose = (level: Level): void => {
    if (context === undefined) return
    model.choose(context, level)
    redraw()
  }
  const close = (): void => {
    if (context === undefined) return
    if (slot?.type === 'heading' && model.levelOf(context) === 'closed') {
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
    l: () => choose(context !== undefined && model.levelOf(context) === 'closed' ? 'some' : 'all'),
    h: close,
    ']': () => all('all'),
    '[': () => all('closed'),
  }
}

/** In trees the arrows do what the letters do. */
export function arrowKeys(keymap: Keymap): Keymap {
  const arrows = { ArrowDown: 'j', ArrowUp: 'k', ArrowRight: 'l', ArrowLeft: 'h' }
  return Object.fromEntries(
    Object.entries(arrows).flatMap(([arrow, letter]) => {
      const act = keymap[letter]
      return act === undefined ? [] : [[arrow, act]]
    }),
  )
}
