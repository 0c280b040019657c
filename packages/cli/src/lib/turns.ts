import type { HttpClient, Turn } from '@meup/agent-sdk/http'
import { Kind } from '@meup/protocol'

/** Maximum number of messages searched for the latest answer. */
const maxMessagesSearched = 1000

/** Reads the turns that the argument of `/reasoning` selects, by ascending number. */
export async function readRequestedTurns(
  http: HttpClient,
  thread: string,
  argument: string,
): Promise<Turn[]> {
  if (argument === 'all') {
    const all: Turn[] = []
    for await (const turn of http.readTurns(thread, { limit: 100, sizes: true })) all.push(turn)
    return all.reverse()
  }
  if (argument === '') {
    for await (const turn of http.readTurns(thread, { limit: 10, sizes: true })) {
      if (turn.state !== 'running') return [turn]
    }
  }
  if (!/^\d{1,9}$/.test(argument)) return []
  const number = Number(argument)
  const { value: turn } = await http.readTurns(thread, { before: number + 1, limit: 1, sizes: true }).next()
  return turn?.turn_number === number ? [turn] : []
}

export async function findLatestAnswerer(http: HttpClient): Promise<string | undefined> {
  let looked = 0
  for await (const { context, correlationId, from } of http.readLog({
    kind: Kind.chat,
    order: 'desc',
  })) {
    if (context === undefined && correlationId !== undefined) return from
    if (++looked === maxMessagesSearched) break
  }
  return undefined
}
