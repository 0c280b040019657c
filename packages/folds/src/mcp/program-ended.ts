import { GATEWAY, Kind, type PresencePayload } from '@meup/protocol'
import { isObject } from '../text.js'

/** An envelope of any kind, with an untyped payload. */
interface Said {
  readonly kind: string
  readonly from: string
  readonly payload: object
}

/** The reason of a cancellation because the program of the run has ended [MEUP-2.14]. */
export const programEndedReason = 'program-ended'

/** `error.data.code` of the response for an addressee whose program has ended [MEUP-2.15], and the SDK's error code for it. */
export const PROGRAM_ENDED = 'program_ended'

/** The JSON-RPC error code of the gateway's response for an ended program. */
const callError = -32000

/** The reason in a sentence about a participant whose program has ended. */
export const programEndedWords = 'its program ended'

/** The reason of a cancellation because the owner of the run has left [MEUP-2.4]. */
const abandonedReason = 'abandoned'

/** The text for people about an ended program. */
export const programEndedText = (participant: string): string => stoppedText(participant, programEndedWords)

/** The text for the sender of a message that no program will answer any more. */
export const unansweredText = (agent: string): string =>
  `${programEndedText(agent)}. Your message has no answer: ask again`

/** The text for people if the gateway ended the run of a participant. */
export const stoppedText = (participant: string, words: string): string => `${participant} stopped: ${words}`

const stopWords: Readonly<Record<string, string>> = {
  [programEndedReason]: programEndedWords,
  [abandonedReason]: 'it left and did not come back',
}

/** Describes why the gateway ends a run; `undefined` if another participant ends it, or for another reason. */
export function getStopWords({ kind, from, payload }: Said): string | undefined {
  const { reason } = payload as { readonly reason?: unknown }
  if (kind !== Kind.reasoningCancel || from !== GATEWAY || typeof reason !== 'string') return undefined
  return findStopWords(reason)
}

/** Describes a reason given by the gateway; `undefined` for other reasons. */
export const findStopWords = (reason: string): string | undefined =>
  Object.hasOwn(stopWords, reason) ? stopWords[reason] : undefined

/** Text that warns the approver of a proposal that the program of its proposer has ended. */
export const proposerEndedText = (proposer: string): string =>
  `${programEndedText(proposer)}; no one waits for the result`

/** The JSON-RPC error of a call to a participant whose program has ended. */
export const programEnded = (participant: string) => ({
  code: callError,
  message: programEndedText(participant),
  data: { code: PROGRAM_ENDED, participant },
})

/** The participant that a response is from, even if the gateway responded for its ended program. */
export const getAnswerer = (response: Said): string => findEnded(response) ?? response.from

/** Finds the participant whose program has ended, if the gateway responds for it. */
export function findEnded({ from, payload }: Said): string | undefined {
  const { error } = payload as { readonly error?: unknown }
  if (from !== GATEWAY || !isObject(error)) return undefined
  const { data } = error
  return isObject(data) && data.code === PROGRAM_ENDED && typeof data.participant === 'string'
    ? data.participant
    : undefined
}

/** Whether the gateway ends a run because its program has ended. */
export const isProgramEnd = ({ kind, from, payload }: Said): boolean =>
  kind === Kind.reasoningCancel &&
  from === GATEWAY &&
  (payload as { readonly reason?: unknown }).reason === programEndedReason

/** The session that a `system.presence` ends, by its own end or a replacement. */
export function getEndedSession({
  kind,
  from,
  payload,
}: Said): { readonly participant: string; readonly session: string } | undefined {
  if (kind !== Kind.systemPresence || from !== GATEWAY) return undefined
  const { participant, session } = payload as PresencePayload
  if (session === undefined || session.event === 'begun') return undefined
  return { participant: participant.id, session: session.id }
}
