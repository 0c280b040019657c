import { type Envelope, GATEWAY, Kind } from '@meup/protocol'
import { findStopWords } from './mcp/program-ended.js'
import { getMessage, isObject } from './text.js'

/** How a chat ends its turn: with an answer, or with `noAnswer` from an agent that cannot answer [MEUP-13.13]. */
export function getAnswerState({ noAnswer }: Envelope['payload']): 'completed' | 'cancelled' | 'error' {
  if (noAnswer === 'stopped') return 'cancelled'
  return noAnswer === 'failed' || noAnswer === 'busy' ? 'error' : 'completed'
}

/** How an envelope ends its context. An agent without the right to cancel concludes with `metadata.cancelled`. */
export function getEnding({
  kind,
  from,
  payload,
}: Envelope): [state: 'completed' | 'cancelled' | 'abandoned', reason: string | null] {
  if (kind === Kind.reasoningConclusion) {
    const isCancelled = isObject(payload.metadata) && payload.metadata.cancelled === true
    return isCancelled ? ['cancelled', getMessage(payload)] : ['completed', null]
  }
  const reason = typeof payload.reason === 'string' ? payload.reason : null
  return [
    from === GATEWAY && reason !== null && findStopWords(reason) !== undefined ? 'abandoned' : 'cancelled',
    reason,
  ]
}
