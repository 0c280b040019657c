import type { TurnChange } from './ledger.js'
import type { TurnRecord } from './record.js'

/** The turns of a session by their threads, all of them, as long as the session is kept in memory. */
export interface TurnHistory {
  apply(change: TurnChange): void
  /** In the order of their numbers. */
  thread(threadId: string): readonly TurnRecord[]
  threads(): readonly string[]
}

export function createTurnHistory(): TurnHistory {
  const threads = new Map<string, Map<number, TurnRecord>>()
  return {
    apply({ turns }) {
      for (const turn of turns) {
        if (turn.turnNumber === null) continue
        const thread = threads.get(turn.threadId) ?? new Map<number, TurnRecord>()
        threads.set(turn.threadId, thread.set(turn.turnNumber, turn))
      }
    },
    thread: (threadId) => [...(threads.get(threadId)?.values() ?? [])],
    threads: () => [...threads.keys()],
  }
}
