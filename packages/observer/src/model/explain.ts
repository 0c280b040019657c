import { Bounded, explain, type Why } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { GrantIndex } from './log/grants.js'
import type { Log } from './log/log.js'
import type { SpaceModel } from './space-model.js'
import { noRedaction } from './text.js'

/** Maximum characters of cached explanations: enough for those of the open proposals, which the inbox shows. */
const maxExplainedChars = 8e6

/**
 * Cached explanations by the array of loaded envelopes. Appended envelopes do not change them; merging earlier ones makes a new
 * array.
 */
const explained = new WeakMap<readonly Envelope[], Bounded<Why>>()
const grants = new WeakMap<Log, GrantIndex>()

const createExplained = (): Bounded<Why> =>
  new Bounded<Why>(maxExplainedChars, ({ steps }) =>
    steps.reduce((sum, { text }) => sum + 200 + text.length, 500),
  )

/** Explains an envelope: the steps that led to it, as far as they are loaded. */
export function explainEnvelope({ log }: SpaceModel, id: string): Why | undefined {
  const known = explained.get(log.envelopes) ?? createExplained()
  explained.set(log.envelopes, known)
  const before = known.get(id)
  if (before !== undefined) return before
  const rights = grants.get(log) ?? new GrantIndex(log)
  grants.set(log, rights)
  const why = explain(log, id, { guard: noRedaction, rights })
  if (why !== undefined) known.set(id, why)
  return why
}
