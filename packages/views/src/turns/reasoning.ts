import { type Envelope, GATEWAY, isContextAncestor, Kind } from '@meup/protocol'
import type { Lifecycle, Opened } from '../contexts/lifecycle.js'
import { type Quoted, sourceOf } from '../source.js'
import { partsOf } from '../steps/parse-thinking.js'
import { isPhase } from '../steps/phases.js'
import type { StepDraft } from '../steps/step.js'
import { isBlank, isObject, isWithheld, messageOf } from '../text.js'
import { moveOn } from './decisions.js'
import type { Ledger } from './ledger.js'
import { abandon, endRun, resume } from './outcome.js'
import type { TurnState } from './record.js'
import { openRun, think } from './runs.js'

/** A run belongs to what it answers; one that answers nothing is a job. */
export function start(ledger: Ledger, lifecycle: Lifecycle, envelope: Envelope): void {
  const known = ledger.turnOf(envelope)
  const [opened] = lifecycle.apply(envelope)
  if (known?.agent === envelope.from) {
    moveOn(known)
    ledger.touch(known)
  }
  if (opened === undefined) return
  const turn = known ?? ledger.beginJob(envelope.from, envelope)
  ledger.bind(opened.context, envelope, turn)
  if (turn.agent !== envelope.from) return
  openRun(turn, opened.context, quote(envelope))
  resume(turn)
  ledger.touch(turn)
}

/** A thought is one step where it tells its phase, else as many as it looks like. */
export function thought(ledger: Ledger, envelope: Envelope): void {
  const steps = stepsOf(envelope.payload)
  const known = ledger.turnOf(envelope)
  if (known?.agent === envelope.from) {
    moveOn(known)
    think(known, envelope.context, quote(envelope))
    ledger.touch(known)
  }
  if (steps.length === 0) return
  const turn = known ?? ledger.beginJob(envelope.from, envelope)
  for (const step of steps) ledger.addStep(turn, envelope, step)
}

/** A conclusion or a cancel. What a cancelled context still waits for has ended with it. */
export function close(ledger: Ledger, lifecycle: Lifecycle, envelope: Envelope): void {
  const own = ledger.ownTurnIn(envelope.context, envelope.from)
  if (own !== undefined) {
    moveOn(own)
    ledger.touch(own)
  }
  const [state, reason] = endOf(envelope)
  for (const { context } of lifecycle.apply(envelope)) {
    const turn = ledger.inContext(context)
    if (turn === undefined) continue
    if (state !== 'completed') abandon(ledger, turn, ({ source }) => isInside(context, source.context))
    const run = turn.runs.find((each) => each.context === context)
    if (run !== undefined) endRun(turn, run, state, reason, ledger.now)
    ledger.touch(turn)
  }
}

const isInside = (context: Opened['context'], path: string | undefined): boolean =>
  path !== undefined && (path === context || isContextAncestor(context, path))

const quote = (envelope: Envelope): Quoted => ({
  source: sourceOf(envelope),
  text: isWithheld(envelope.payload) ? null : messageOf(envelope.payload),
})

function stepsOf(payload: Envelope['payload']): readonly StepDraft[] {
  const text = messageOf(payload)
  if (!isPhase(payload.phase)) return partsOf(text)
  return isBlank(text) ? [] : [{ phase: payload.phase, content: text.trim() }]
}

/** How this ends its context. An agent that may not cancel concludes, and says that it was cancelled. */
export function endOf({ kind, from, payload }: Envelope): [state: TurnState, reason: string | null] {
  if (kind === Kind.reasoningConclusion) {
    const isCancelled = isObject(payload.metadata) && payload.metadata.cancelled === true
    return isCancelled ? ['cancelled', messageOf(payload)] : ['completed', null]
  }
  const reason = typeof payload.reason === 'string' ? payload.reason : null
  return [from === GATEWAY && reason === 'abandoned' ? 'abandoned' : 'cancelled', reason]
}
