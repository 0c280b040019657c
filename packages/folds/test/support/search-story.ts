import { call, chat, start } from './log.js'

/** The envelopes of a turn with one tool call, from which tests compose their logs. */
export const question = chat('user', 'search for recent project updates', { id: 'q' })
export const opening = start('agent', 'Looking', { id: 'r', correlationId: 'q' })
export const inRun = { context: 'r' }
export const answer = chat('agent', 'The latest updates include...', { correlationId: 'q' })
export const search = call(
  'agent',
  'memory_search',
  { query: 'recent project updates', limit: 5 },
  { ...inRun, id: 'c1', rationale: "searched memory for 'recent project updates'" },
)
