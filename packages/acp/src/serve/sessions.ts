import { randomBytes } from 'node:crypto'
import type { SessionInfo, SessionUpdate } from '@agentclientprotocol/sdk'
import type { AnyEnvelope } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import { brief, getMessage } from '@meup/folds'
import { Kind } from '@meup/protocol'
import { chunk } from './content.js'
import type { ToolKinds } from './tool-calls.js'
import { TurnUpdates } from './turn-updates.js'

/** Maximum replayed turns of a session, and envelopes read for a turn. */
const [maxTurns, maxTurnEnvelopes] = [50, 10_000]
/** Maximum chats that are searched for sessions. */
const maxChatsSearched = 1000
const maxTitleChars = 80

/**
 * Creates a session id. Sessions are not stored but derived from the log: the id contains the seq after which the session
 * began, the ids of its chats begin with the session id, and its agent is the addressee of its last chat.
 */
export const createSessionId = (head: number): string => `acp-${head}-${randomBytes(6).toString('hex')}`

export const createChatId = (session: string): string => `${session}-${randomBytes(8).toString('hex')}`

const pattern = /^acp-(\d{1,16})-[0-9a-f]{12}(?=-|$)/

/** The seq after which a session began; `undefined` if the id is not a session id. */
export function getSessionStart(id: string): number | undefined {
  const [session, start] = pattern.exec(id) ?? []
  return session === id ? Number(start) : undefined
}

/** Reads the history of a space. */
export type SessionHistory = Pick<HttpClient, 'readLog'>

/** The latest chats of a session, oldest first. */
export async function readChats(
  history: SessionHistory,
  asker: string,
  session: string,
): Promise<AnyEnvelope[]> {
  const chats: AnyEnvelope[] = []
  const after = getSessionStart(session)
  for await (const chat of history.readLog({ kind: Kind.chat, from: asker, after, order: 'desc' })) {
    if (pattern.exec(chat.id)?.[0] !== session) continue
    chats.unshift(chat)
    if (chats.length === maxTurns) break
  }
  return chats
}

/** Replays the chats and their turns as session updates. */
export async function* replaySession(
  history: SessionHistory,
  kinds: ToolKinds,
  chats: readonly AnyEnvelope[],
): AsyncGenerator<SessionUpdate, void> {
  for (const [index, { id, from, to = [], seq = 0, payload }] of chats.entries()) {
    const question = { id, from, agent: to[0] ?? '' }
    const turn = new TurnUpdates(question, kinds)
    yield chunk('user_message_chunk', getMessage({ ...payload }), id)
    let left = maxTurnEnvelopes
    // A prompt of a session ends before the next one begins, so the next chat limits the search.
    for await (const envelope of history.readLog({ after: seq - 1, before: chats[index + 1]?.seq })) {
      yield* turn.apply(envelope)
      const { end } = turn
      if ((end !== undefined && end.givenUp === null) || --left === 0) break
    }
    yield* turn.close()
  }
}

/** Lists a participant's latest sessions, found by its chats. Sessions have no folder, so they match any `cwd`. */
export async function listSessions(
  history: SessionHistory,
  asker: string,
  cwd: string,
): Promise<SessionInfo[]> {
  const sessions = new Map<string, SessionInfo>()
  let left = maxChatsSearched
  for await (const { id, ts, payload } of history.readLog({
    kind: Kind.chat,
    from: asker,
    order: 'desc',
    limit: maxChatsSearched,
  })) {
    const sessionId = pattern.exec(id)?.[0]
    if (sessionId !== undefined) {
      const { updatedAt = ts } = sessions.get(sessionId) ?? {}
      const title = brief(getMessage({ ...payload }), maxTitleChars)
      sessions.set(sessionId, { sessionId, cwd, title, updatedAt })
    }
    if (--left === 0) break
  }
  return [...sessions.values()]
}
