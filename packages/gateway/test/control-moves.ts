import { Kind } from '@meup/protocol'
import fc from 'fast-check'

interface Cast {
  readonly names: readonly string[]
  /** An RFC 3339 time, this number of seconds after the log begins. */
  at(seconds: number): string
}

/** Generators of pauses, proposals and their decisions, visibility changes, and chats that may answer each other. */
export function controlMoves({ names, at }: Cast) {
  const from = fc.constantFrom(...names)
  const some = fc.subarray([...names], { minLength: 1 })
  const to = fc.option(some, { nil: undefined })
  return {
    pause: fc.record({
      from,
      to: some,
      kind: fc.constantFrom(Kind.participantPause, Kind.participantResume),
      payload: fc.constantFrom({}, { timeoutSeconds: 1.5, reason: 'tired' }, { timeoutSeconds: 25 }),
    }),
    proposal: fc.record({
      from,
      to,
      kind: fc.constant(Kind.mcpProposal),
      payload: fc.constantFrom(
        { method: 'x' },
        { method: 'x', params: { b: 1, a: '\u0000é' }, uses: 2 },
        { method: 'x', expiresAt: at(10), uses: 9 },
      ),
    }),
    answer: fc.record({ from, kind: fc.constantFrom(Kind.mcpWithdraw, Kind.mcpReject) }),
    chat: fc.record({ from: fc.constantFrom('ana', 'ben', ...names), kind: fc.constant(Kind.chat) }),
    visibility: fc.record({
      from,
      kind: fc.constant(Kind.observeVisibility),
      payload: fc.record({ reasoningVisible: fc.boolean() }),
    }),
  }
}
