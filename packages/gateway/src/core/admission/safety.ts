import { isGuarded } from '@meup/protocol'
import type { Finding } from '@meup/safety'
import type { Verdict } from '../decisions.js'
import type { Admission, AdmissionContext, Outcome } from './context.js'
import { encode } from './encode.js'

/**
 * Masks and withholds what must not be seen of reasoning, rationales and metadata [MEUP-6.1]. It rewrites and never
 * refuses [MEUP-6.8]; an envelope that it leaves alone keeps its bytes.
 */
export function guard(admission: AdmissionContext, space: Admission): Outcome {
  const { envelope, encoded } = admission
  if (!isGuarded(envelope)) return undefined
  const {
    rationale,
    payload,
    findings,
    unscanned = 0,
  } = space.safety.rewrite(envelope, admission.payload, admission.meter)
  admission.verdicts = [...verdictsOn(findings), ...verdictsOnUnscanned(unscanned)]
  if (rationale === undefined && payload === undefined) return undefined
  if (rationale === '') delete envelope.rationale
  else if (rationale !== undefined) envelope.rationale = rationale
  if (payload !== undefined) {
    admission.payload = Buffer.from(payload)
    envelope.payload = JSON.parse(payload) as Record<string, unknown>
  }
  admission.encoded = { body: encode(envelope, admission.payload).body, content: encoded.content }
  return undefined
}

/** Records what the guard has decided, behind the envelope that it is about [MEUP-6.3]. */
export function record(admission: AdmissionContext, space: Admission): Outcome {
  for (const verdict of admission.verdicts ?? []) space.decisions.record(admission, verdict)
  return undefined
}

const verdictsOn = (findings: readonly Finding[]): Verdict[] =>
  findings.flatMap(({ rule, action }) => {
    if (action === 'block') {
      return { decision: 'blocked', reasonCode: rule, message: `the rule ${rule} withholds a text of it` }
    }
    return action === 'review'
      ? { decision: 'review', reasonCode: rule, message: `the rule ${rule} asks for a look at it` }
      : []
  })

const verdictsOnUnscanned = (texts: number): Verdict[] => {
  if (texts === 0) return []
  const message = `${texts} texts of it are withheld, since to scan them costs too much. Send less at once.`
  return [{ decision: 'blocked', reasonCode: 'payload_too_large', message }]
}
