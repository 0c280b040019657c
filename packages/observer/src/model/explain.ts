import { Bounded, explain, type Why } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { GrantIndex } from './log/grants.js'
import type { Log } from './log/log.js'
import type { SpaceModel } from './space-model.js'
import { noRedaction } from './text.js'

/** Characters of explanations that are remembered: enough for the proposals that wait. */
const maxExplainedChars = 8e6

/** What led to envelopes, until others are loaded: what comes later changes nothing of it. */
const explained = new WeakMap<readonly Envelope[], Bounded<Why>>()
const grants = new WeakMap<Log, GrantIndex>()

const createExplained = (): Bounded<Why> =>
  new Bounded<Why>(maxExplainedChars, ({ steps }) =>
    steps.reduce((sum, { text }) => sum + 200 + text.length, 500),
  )

/** The steps that led to an envelope, as far as the log is loaded. */
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
