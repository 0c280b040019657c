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
    // Envelopes that were pruned in the meantime are skipped without notice.
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
    replace: '...omitUndefined({ after }), ...lastSeen,',
    by: '...lastSeen, ...omitUndefined({ after }),',
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
    // An unreadable envelope is returned to anyone who asks for it.
    package: gateway,
    function: 'LogReads.headings',
    replace: 'this.#mayRead(reader, row) && matches(filter, row)',
    by: 'matches(filter, row)',
    tests: ['packages/gateway/test/http-history.test.ts', 'packages/gateway/test/silent-reading.test.ts'],
  },
  {
    // An unreadable envelope costs its reader as much as its size.
    package: gateway,
    function: 'LogReads.#readOpen',
    replace: 'if (mayAllRead(rights, audience)) all.push(row)',
    by: 'if (audience !== null) all.push(row)',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // A turn is read in full for readers that may only read a part.
    package: gateway,
    function: 'FoldedTurns.look',
    replace: '|| !(await this.#mayReadWhole(index, beginning, reader))',
    by: '',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // Reading continues without a reader.
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
    // A participant that was cut off by a crash stays present forever.
    package: gateway,
    function: 'Presence.reconcile',
    replace: 'for (const id of present) if (!this.isThere(id)) this.#space.tryEmit(left(id))',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts', 'packages/gateway/test/failure.test.ts'],
  },
  {
    // A program fails forever, though its gateway has gone.
    package: gateway,
    function: 'Presence.reconcile',
    replace: 'this.recordPrograms()',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts'],
  },
  {
    // A program's state is mistaken for new capabilities, which are then not announced.
    package: gateway,
    function: 'presence',
    replace: 'if (participant.capabilities !== undefined) trust.markNotified(id)',
    by: 'trust.markNotified(id)',
    tests: ['packages/gateway/test/presence.test.ts'],
  },
  {
    // Envelopes after a refused one in the same post are logged nevertheless.
    package: gateway,
    function: 'postEnvelopes',
    replace: 'break',
    by: 'continue',
    tests: ['packages/gateway/test/http.test.ts'],
  },
  {
    // A private question is found by its seq.
    package: gateway,
    function: 'resolveEnvelope',
    replace: 'if (mayBeRead(row)) return row',
    by: 'if (row !== undefined) return row',
    tests: ['packages/gateway/test/http-envelope.test.ts'],
  },
]
