import {
  type Envelope,
  type ErrorPayload,
  freshId,
  GATEWAY,
  type InviteAckPayload,
  isEnvelopeId,
  Kind,
  PROTOCOL,
  type SummaryPayload,
  type WelcomePayload,
} from '@meup/protocol'
import type { Refusal } from './refusal.js'

/** A message from the gateway to one connection; not logged, so without `seq`. */
function frame(to: string, ts: string, kind: string, payload: object, correlationId?: string): Envelope {
  return {
    protocol: PROTOCOL,
    id: freshId(),
    ts,
    from: GATEWAY,
    to: [to],
    kind,
    ...(correlationId && { correlationId }),
    payload: payload as Record<string, unknown>,
  }
}

/** `subscribe`: id of the `observe.subscribe` that this answers. */
export const welcomeFrame = (to: string, ts: string, payload: WelcomePayload, subscribe?: string): Envelope =>
  frame(to, ts, Kind.systemWelcome, payload, subscribe)

/** Counts of thoughts in a context that the connection was not sent [MEUP-9.9]. */
export const summaryFrame = (
  to: string,
  {
    context,
    ts,
    payload,
  }: { readonly context: string; readonly ts: string; readonly payload: SummaryPayload },
): Envelope => ({ ...frame(to, ts, Kind.observeSummary, payload), context })

/** The answer to an invitation, with its token. */
export const inviteAckFrame = (
  to: string,
  ts: string,
  payload: InviteAckPayload,
  invitation: string,
): Envelope => frame(to, ts, Kind.spaceInviteAck, payload, invitation)

/** The answer to a refused envelope: code, advice, path [MEUP-12.1]. */
export function errorFrame(
  to: string,
  ts: string,
  refusal: Refusal,
  refused: { id: string; kind: string },
): Envelope {
  const { code, message, path, retryAfterMs, details } = refusal
  const { capabilities, ...more } = details ?? {}
  const payload: ErrorPayload = {
    code,
    message,
    ...(refused.kind && { attemptedKind: refused.kind }),
    ...(capabilities !== undefined && {
      capabilities: capabilities as NonNullable<ErrorPayload['capabilities']>,
    }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...((path !== undefined || Object.keys(more).length > 0) && {
      details: { ...(path !== undefined && { path }), ...more },
    }),
  }
  return frame(to, ts, Kind.systemError, payload, isEnvelopeId(refused.id) ? refused.id : undefined)
}
