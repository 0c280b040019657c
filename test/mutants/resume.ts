import type { Mutant } from './mutant.js'

const gateway = 'packages/gateway'

/** Nothing is lost and nothing comes twice: for who comes back, who reads too little, who pages and who posts. */
export const resume: readonly Mutant[] = [
  {
    // A client whose line is not read for a while hears no ping, and gives the line up.
    package: gateway,
    function: 'WsServer.#ping',
    replace: 'if (peer.reader.isHeld) peer.missed = 0',
    by: 'if (peer.reader.isHeld) continue',
    tests: ['packages/gateway/test/ticks.test.ts'],
  },
  {
    // What was pruned meanwhile is left out, and nobody is told.
    package: gateway,
    function: 'backfill',
    replace: 'rows[0]?.seq !== session.position + 1',
    by: 'rows[0] === undefined',
    tests: ['packages/gateway/test/backfill.test.ts', 'packages/gateway/test/resume.test.ts'],
  },
  {
    // A place in a log that was lost is taken for one in the log that follows it.
    package: gateway,
    function: 'SpaceHost.#resolveStart',
    replace: 'isForeign || !isKept ?',
    by: '!isKept ?',
    tests: ['packages/gateway/test/resume.test.ts', 'packages/gateway/test/http-events.test.ts'],
  },
  {
    // A subscription cuts its reader's own echo: it never learns that it was accepted.
    package: gateway,
    function: 'cutFor',
    replace: '[entry.from, ...(entry.to ?? [])]',
    by: '(entry.to ?? [])',
    tests: ['packages/gateway/test/subscription.test.ts'],
  },
  {
    // A slow reader misses envelopes, and its connection stays as if nothing had happened.
    package: gateway,
    function: 'Session.send',
    replace: 'this.close(closeCodes.tooSlow,',
    by: 'void (',
    tests: [
      'packages/gateway/test/resume.test.ts',
      'packages/gateway/test/large-welcome.test.ts',
      'packages/gateway/test/http-events-load.test.ts',
    ],
  },
  {
    // A browser that comes back begins again where its URL says, and gets everything twice.
    package: gateway,
    function: 'getEvents',
    replace: '...(after !== undefined && { after }), ...lastSeen,',
    by: '...lastSeen, ...(after !== undefined && { after }),',
    tests: ['packages/gateway/test/http-events.test.ts'],
  },
  {
    // Between two pages one envelope is left out.
    package: gateway,
    function: 'readHistory',
    replace: 'last = row.seq',
    by: 'last = row.seq + 1',
    tests: ['packages/gateway/test/http-history.test.ts', 'packages/gateway/test/http-bounds.test.ts'],
  },
  {
    // What may not be read is given to whoever asks for it.
    package: gateway,
    function: 'LogReads.headings',
    replace: 'this.#mayRead(reader, row) && matches(filter, row)',
    by: 'matches(filter, row)',
    tests: ['packages/gateway/test/http-history.test.ts', 'packages/gateway/test/silent-reading.test.ts'],
  },
  {
    // What may not be read costs its reader as much as it is large.
    package: gateway,
    function: 'LogReads.#readOpen',
    replace: 'if (mayAllRead(rights, audience)) all.push(row)',
    by: 'if (audience !== null) all.push(row)',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // A turn is read whole for whoever may read a part of it.
    package: gateway,
    function: 'FoldedTurns.look',
    replace: '|| !(await this.#mayReadWhole(index, beginning, reader))',
    by: '',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // Reading goes on for nobody.
    package: gateway,
    function: 'LogReads.waitForBudget',
    replace: '!reader.isGone()',
    by: 'reader',
    tests: ['packages/gateway/test/bounded-reading.test.ts'],
  },
  {
    // A place is taken for one in another log.
    package: gateway,
    function: 'checkResume',
    replace: 'after === 0 || epoch !== undefined',
    by: 'after >= 0',
    tests: ['packages/gateway/test/resume.test.ts', 'packages/gateway/test/http-events.test.ts'],
  },
  {
    // Whom a crash cut off is present for ever.
    package: gateway,
    function: 'Presence.reconcile',
    replace: 'for (const id of present) if (!this.isThere(id)) this.#space.tryEmit(left(id))',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts', 'packages/gateway/test/failure.test.ts'],
  },
  {
    // A program fails for ever, though the gateway beside which it ran is gone.
    package: gateway,
    function: 'Presence.reconcile',
    replace: 'this.recordPrograms()',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts'],
  },
  {
    // What a program is doing passes for new capabilities of its participant, which are told nobody then.
    package: gateway,
    function: 'presence',
    replace: 'if (participant.capabilities !== undefined) trust.markNotified(id)',
    by: 'trust.markNotified(id)',
    tests: ['packages/gateway/test/presence.test.ts'],
  },
  {
    // What follows a refusal in the same post is logged all the same.
    package: gateway,
    function: 'postEnvelopes',
    replace: 'break',
    by: 'continue',
    tests: ['packages/gateway/test/http.test.ts'],
  },
  {
    // What was asked is found by its seq, though it is for others.
    package: gateway,
    function: 'resolveEnvelope',
    replace: 'if (mayBeRead(row)) return row',
    by: 'if (row !== undefined) return row',
    tests: ['packages/gateway/test/http-envelope.test.ts'],
  },
]
