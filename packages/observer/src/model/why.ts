import { isNotification } from '@meup/folds'
import {
  contextParent,
  correlations,
  type DecisionPayload,
  type Envelope,
  GUEST,
  Kind,
  openedContext,
} from '@meup/protocol'
import type { Log } from './log/log.js'

/** Steps of a chain, and envelopes that are looked through for the step before another. */
const [maxSteps, maxLooked] = [200, 5000]

/** What led to an envelope, from what began it to the envelope itself. */
export interface Chain {
  readonly steps: readonly Envelope[]
  /** Whether there was more before it: not loaded here, or too far back. */
  readonly isCut: boolean
}

/** What led to an envelope, across agents, as far as it is loaded. */
export function explain(log: Log, id: string): Chain {
  const steps: Envelope[] = []
  const seen = new Set<string>()
  let at = log.get(id)
  while (at !== undefined && !seen.has(at.id) && steps.length < maxSteps) {
    steps.push(at)
    seen.add(at.id)
    at = getCause(log, at)
  }
  const begin = steps.at(-1)
  const isLost = begin !== undefined && begin.kind !== Kind.chat && !isBeginning(log, begin)
  return { steps: steps.reverse(), isCut: steps.length >= maxSteps || isLost }
}

/** Whether a chain may begin with it: a run of its own accord, or what was said outside any context without a reference. */
const isBeginning = (log: Log, { kind, context, ...rest }: Envelope): boolean =>
  correlations(rest).every((id) => log.get(id) !== undefined) &&
  (kind === Kind.reasoningStart || context === undefined)

/** The first text behind a chain that is from nobody of the space: the result of a tool, or a guest. */
export function findOutsideText(log: Log, { steps }: Chain): Envelope | undefined {
  const last = steps.at(-1)
  const behind = steps.flatMap((step) => [
    ...correlations(step).flatMap((id) => log.get(id) ?? []),
    ...(step === last ? [] : [step]),
  ])
  return behind.find(({ kind, from }) => kind === Kind.mcpResponse || from.startsWith(GUEST))
}

/** The one envelope that an envelope follows from most directly. */
function getCause(log: Log, envelope: Envelope): Envelope | undefined {
  const { kind, context, payload } = envelope
  const answered = correlations(envelope).flatMap((id) => log.get(id) ?? [])
  if (kind === Kind.chat) return findConclusion(log, envelope, answered) ?? answered[0]
  if (kind === Kind.reasoningStart)
    return answered[0] ?? (context === undefined ? undefined : findStep(log, context, envelope))
  if (kind === Kind.systemDecision) {
    const { attemptedCorrelation, context: place } = payload as Partial<DecisionPayload>
    const about = attemptedCorrelation === undefined ? {} : { correlationId: attemptedCorrelation }
    const [asked] = correlations(about).flatMap((id) => log.get(id) ?? [])
    const [participant = ''] = envelope.to ?? []
    const refused = { seq: envelope.seq ?? 0, from: participant }
    return (place === undefined ? undefined : findStep(log, place, refused)) ?? asked
  }
  const proposed = answered.find((each) => each.kind === Kind.mcpProposal)
  if (kind === Kind.mcpRequest && proposed !== undefined) return proposed
  if (kind === Kind.mcpResponse || context === undefined) return answered[0]
  return findStep(log, context, envelope) ?? answered[0]
}

/** How the run ended whose answer a chat is. */
function findConclusion(
  log: Log,
  { from, seq = 0, context }: Envelope,
  answered: readonly Envelope[],
): Envelope | undefined {
  const starts = answered
    .flatMap(({ id }) => [id, ...log.answersTo(id)])
    .flatMap((id) => log.get(id) ?? [])
    .filter((each) => each.kind === Kind.reasoningStart && each.from === from && (each.seq ?? 0) < seq)
  const start = starts.at(-1)
  const place = start === undefined ? context : openedContext(start)
  if (place === undefined) return undefined
  return findBefore(log, seq, (each) => isStepOf(log, each, place) && each.from === from)
}

type Before = Pick<Envelope, 'seq' | 'from'>

/** What came last in a context, before an envelope of somebody: a thought, a result, or the start. */
function findStep(log: Log, context: string, before: Before): Envelope | undefined {
  const { seq = 0, from } = before
  const step = findBefore(log, seq, (each) => isStepOf(log, each, context) && isFor(log, each, from))
  if (step !== undefined) return step
  const outer = contextParent(context)
  return outer === undefined ? undefined : findStep(log, outer, before)
}

/** Whether it was said by somebody, or answers what somebody asked. */
const isFor = (log: Log, envelope: Envelope, participant: string): boolean =>
  isAnswer(envelope)
    ? correlations(envelope).some((id) => listAskers(log, id).includes(participant))
    : envelope.from === participant

/** Who asked: of a call that was approved, also who proposed it. */
function listAskers(log: Log, id: string): string[] {
  const asked = log.get(id)
  if (asked === undefined) return []
  const proposed = correlations(asked).flatMap((each) => log.get(each) ?? [])
  return [asked.from, ...proposed.filter(({ kind }) => kind === Kind.mcpProposal).map(({ from }) => from)]
}

/** A result, a rejection, or what somebody else says to a question. */
const isAnswer = ({ kind, context }: Envelope): boolean =>
  kind === Kind.mcpResponse || kind === Kind.mcpReject || (kind === Kind.chat && context === undefined)

/** Whether it is something that others in a context may follow from. A call does not: its result does. */
function isStepOf(log: Log, envelope: Envelope, context: string): boolean {
  const { kind } = envelope
  if (kind === Kind.reasoningStart) return openedContext(envelope) === context
  if (isAnswer(envelope)) return correlations(envelope).some((id) => log.get(id)?.context === context)
  if (envelope.context !== context) return false
  return kind !== Kind.mcpRequest && kind !== Kind.mcpProposal && !isNotification(envelope.payload)
}

function findBefore(log: Log, seq: number, is: (envelope: Envelope) => boolean): Envelope | undefined {
  const { envelopes } = log
  const last = log.countThrough(seq - 1) - 1
  for (let at = last; at >= 0 && last - at < maxLooked; at--) {
    const envelope = envelopes[at]
    if (envelope !== undefined && is(envelope)) return envelope
  }
  return undefined
}
