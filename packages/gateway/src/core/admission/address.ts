import { correlations, Kind, namespaceOf } from '@meup/protocol'
import type { Admission, AdmissionContext, StepOutcome } from './admission-context.js'

/** Kinds whose recipients default to the audience of the run, or of the private question that they are about. */
const isSpoken = (kind: string): boolean =>
  namespaceOf(kind) === 'reasoning' || kind === Kind.chat || kind === Kind.chatDelta

/**
 * A private question has a private run [MEUP-2.13]: its start, what is said in it and the answer all get its audience. `[]`
 * means everyone.
 */
export function address(admission: AdmissionContext, space: Admission): StepOutcome {
  const { envelope } = admission
  const { kind, from, to } = envelope
  if (to === undefined) {
    const audience = isSpoken(kind) ? findAudience(admission, space) : undefined
    const others = [...new Set(audience)].filter((id) => id !== from)
    if (others.length === 0) return undefined
    envelope.to = others
    admission.isAddressed = true
  } else if (to.length === 0) delete envelope.to
  else return undefined
  admission.isRewritten = true
  return undefined
}

function findAudience({ envelope }: AdmissionContext, space: Admission): readonly string[] | undefined {
  const { kind, from, context, payload } = envelope
  const { contexts } = space.state
  if (kind === Kind.reasoningStart && payload.public === true) return undefined
  const run = context === undefined ? undefined : contexts.runAudience(context)
  if (run !== undefined || (context !== undefined && contexts.getRun(context) !== undefined)) return run
  const about = correlations(envelope)
  if (namespaceOf(kind) === 'reasoning' && kind !== Kind.reasoningStart) return undefined
  if (kind !== Kind.reasoningStart) {
    const own = contexts.audienceAbout(from, about)
    if (own !== undefined) return own === 'everyone' ? undefined : own
  }
  const chats = about
    .flatMap((id) => space.ids.findOrigin(id) ?? [])
    .filter((origin) => origin.kind === Kind.chat)
  if (!chats.some(({ to }) => to !== undefined)) return undefined
  if (!chats.every((chat) => space.mayRead(from, chat))) return undefined
  return chats.flatMap(({ from: asker, to = [] }) => [asker, ...to])
}
