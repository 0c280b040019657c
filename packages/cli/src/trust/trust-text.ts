import { attemptText, brief, onOneLine } from '@meup/folds'
import { type AnyEnvelope, type DecisionPayload, Kind } from '@meup/protocol'
import { capabilitiesText } from './capabilities.js'
import { spanText } from './terms.js'

/** Something that was decided about a participant, on one line. */
export const trustText = (envelope: AnyEnvelope): string =>
  `${envelope.ts}  ${onOneLine(deedOf(envelope) ?? `${envelope.from} ${envelope.kind}`)}`

/** What somebody decided about a participant; `undefined` for everything else. */
export function deedOf(envelope: AnyEnvelope): string | undefined {
  const { from, to = [] } = envelope
  switch (envelope.kind) {
    case Kind.systemDecision:
      return `${to.join(', ')}: ${decisionText(envelope.payload)}`
    case Kind.capabilityGrant: {
      const { recipient, capabilities, expiresAt, reason } = envelope.payload
      return `${from} granted ${recipient} ${capabilitiesText(capabilities)}${until(expiresAt)}${why(reason)} (${envelope.id})`
    }
    case Kind.capabilityRevoke: {
      const { recipient, grantId, capabilities = [], reason } = envelope.payload
      return `${from} revoked ${grantId ?? capabilitiesText(capabilities)} of ${recipient}${why(reason)}`
    }
    case Kind.capabilityGrantAck:
      return `${from} ${envelope.payload.status} ${[envelope.correlationId ?? []].flat().join(', ')}`
    case Kind.spaceInvite: {
      const { participantId, capabilities, expiresAt, reason } = envelope.payload
      return `${from} invited ${participantId} with ${capabilitiesText(capabilities)}${until(expiresAt)}${why(reason)} (${envelope.id})`
    }
    case Kind.spaceKick: {
      const { participantId, reason, untilTs } = envelope.payload
      return `${from} kicked ${participantId}${until(untilTs)}${why(reason)}`
    }
    case Kind.participantPause: {
      const { reason, timeoutSeconds } = envelope.payload
      const span = timeoutSeconds === undefined ? '' : ` for ${spanText(timeoutSeconds * 1000)}`
      return `${from} paused ${to.join(', ')}${span}${why(reason)}`
    }
    case Kind.participantResume:
      return `${from} resumed ${to.join(', ')}${why(envelope.payload.reason)}`
  }
  return undefined
}

function decisionText(payload: DecisionPayload): string {
  const { decision, message, reasonCode, attemptedKind, attemptedTool, count } = payload
  const attempt = attemptText(payload)
  const what = [attemptedKind, attemptedTool, decision === 'review' ? 'passed for review' : decision]
  const times = count > 1 ? ` ×${count}` : ''
  return `${what.filter(Boolean).join(' ')}: ${brief(message, 300)} (${reasonCode})${times}${attempt && ` · ${attempt}`}`
}

const until = (time: string | undefined): string => (time === undefined ? '' : ` until ${time}`)
const why = (reason: string | undefined): string => (reason ? ` — ${brief(reason, 200)}` : '')
