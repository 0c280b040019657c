import { GATEWAY, Kind, type PresencePayload } from '@meup/protocol'
import { isObject } from '../text.js'

/** An envelope of any kind, however its payload is typed. */
interface Said {
  readonly kind: string
  readonly from: string
  readonly payload: object
}

/** Why a run was cancelled whose program has ended [MEUP-2.14]. */
export const programEndedReason = 'program-ended'

/** `error.data.code` of the answer to a call whose addressee's program has ended [MEUP-2.15], and the code of the SDK's errors about it. */
export const PROGRAM_ENDED = 'program_ended'

/** A JSON-RPC error that the gateway answers with for a program that has ended. */
const callError = -32000

/** Why a participant stopped, in words. */
export const programEndedWords = 'its program ended'

/** Why a run was cancelled whose owner has left [MEUP-2.4]. */
const abandonedReason = 'abandoned'

/** What people read where a program has ended. */
export const programEndedText = (participant: string): string => stoppedText(participant, programEndedWords)

/** The text for people if the gateway ended the run of a participant. */
export const stoppedText = (participant: string, words: string): string => `${participant} stopped: ${words}`

const stopWords: Readonly<Record<string, string>> = {
  [programEndedReason]: programEndedWords,
  [abandonedReason]: 'it left and did not come back',
}

/** Why the gateway ends a run, in words; `undefined` for what others send, and for other reasons. */
export function getStopWords({ kind, from, payload }: Said): string | undefined {
  const { reason } = payload as { readonly reason?: unknown }
  if (kind !== Kind.reasoningCancel || from !== GATEWAY || typeof reason !== 'string') return undefined
  return findStopWords(reason)
}

/** Words for a reason that the gateway gave; `undefined` for other reasons. */
export const findStopWords = (reason: string): string | undefined =>
  Object.hasOwn(stopWords, reason) ? stopWords[reason] : undefined

/** What whoever decides a proposal reads first where the program of its proposer has ended. */
export const proposerEndedText = (proposer: string): string =>
  `${programEndedText(proposer)}; nobody waits for the result`

/** The JSON-RPC error of a call to a participant whose program has ended. */
export const programEnded = (participant: string) => ({
  code: callError,
  message: programEndedText(participant),
  data: { code: PROGRAM_ENDED, participant },
})

/** Whose answer a response is: the gateway answers for participants whose programs have ended. */
export const getAnswerer = (response: Said): string => findEnded(response) ?? response.from

/** The participant whose program has ended, where the gateway answers a call for it. */
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

/** The session that a `system.presence` ends, by itself or because another takes over. */
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
