import { call, chat, start } from './log.js'

/** A turn with one tool, envelope by envelope: a test puts together what it needs of it. */
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
