import type { SpaceClient } from '@meup/agent-sdk'
import { print, printer, tell } from '../output.js'
import { Conversation } from '../render/conversation.js'
import { Conversing } from './conversing.js'
import type { View, ViewFlags, ViewOptions } from './view.js'

/** Lines, one below the other; at a terminal above a footer that says what goes on. With `--json`, envelopes alone. */
export const openView = (space: SpaceClient, flags: ViewFlags, options: ViewOptions): View =>
  flags.json ? jsonView(options) : new Conversing(space, flags, options)

const nothing = (): void => {}

const jsonView = ({ filter }: ViewOptions): View => ({
  show: (envelope) => filter?.includes(envelope) !== false && printer(true)(envelope),
  append: nothing,
  print: (lines) => lines.forEach(print),
  tell,
  toggleThoughts: nothing,
  toggleOutput: nothing,
  past: () => new Conversation(),
  choose: () => Promise.reject(new Error('whoever reads the JSON chooses what to make of it')),
  ask: async () => undefined,
  filter,
  lines: undefined,
  refresh: nothing,
  close: nothing,
})
