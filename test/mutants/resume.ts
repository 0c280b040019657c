import type { Mutant } from './mutant.js'

const gateway = 'packages/gateway'

/** Wrong edits of resuming, slow readers, paging and posting. The comment of each says what goes wrong. */
export const resume: readonly Mutant[] = [
  {
    // A client that the gateway does not read for a while gets no ping, and closes the connection.
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
    // A position in a lost log is used in the log that replaced it.
    package: gateway,
    function: 'SpaceHost.#resolveStart',
    replace: 'isForeign || !isKept ?',
    by: '!isKept ?',
    tests: ['packages/gateway/test/resume.test.ts', 'packages/gateway/test/http-events.test.ts'],
  },
  {
    // A subscription filters out the sender's own echo, so that it does not learn that its envelope was accepted.
    package: gateway,
    function: 'cutFor',
    replace: '[entry.from, ...(entry.to ?? [])]',
    by: '(entry.to ?? [])',
    tests: ['packages/gateway/test/subscription.test.ts'],
  },
  {
    // A slow reader misses envelopes, and its connection stays open.
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
    // A browser that reconnects its event stream starts again at the position in the URL, and gets all envelopes twice.
    package: gateway,
    function: 'getEvents',
    replace: '...omitUndefined({ after }), ...lastSeen,',
    by: '...lastSeen, ...omitUndefined({ after }),',
    tests: ['packages/gateway/test/http-events.test.ts'],
  },
  {
    // One envelope is missing between two pages.
    package: gateway,
    function: 'readHistory',
    replace: 'last = row.seq',
    by: 'last = row.seq + 1',
    tests: ['packages/gateway/test/http-history.test.ts', 'packages/gateway/test/http-bounds.test.ts'],
  },
  {
    // An envelope is returned to readers that may not read it.
    package: gateway,
    function: 'LogReads.headings',
    replace: 'this.#mayRead(reader, row) && matches(filter, row)',
    by: 'matches(filter, row)',
    tests: ['packages/gateway/test/http-history.test.ts', 'packages/gateway/test/silent-reading.test.ts'],
  },
  {
    // Bodies of envelopes that a reader may not read are read, so that their size is charged to its budget.
    package: gateway,
    function: 'LogReads.#readOpen',
    replace: 'if (mayAllRead(rights, audience)) all.push(row)',
    by: 'if (audience !== null) all.push(row)',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // A reader that may read only a part of a turn gets all of it.
    package: gateway,
    function: 'FoldedTurns.look',
    replace: '|| !(await this.#mayReadWhole(index, beginning, reader))',
    by: '',
    tests: ['packages/gateway/test/private-reading.test.ts'],
  },
  {
    // The gateway continues to read the log for a response after the client has disconnected.
    package: gateway,
    function: 'LogReads.waitForBudget',
    replace: '!reader.isGone()',
    by: 'reader',
    tests: ['packages/gateway/test/bounded-reading.test.ts'],
  },
  {
    // A position (`after`) without an epoch is used, although it may belong to another log.
    package: gateway,
    function: 'checkResume',
    replace: 'after === 0 || epoch !== undefined',
    by: 'after >= 0',
    tests: ['packages/gateway/test/resume.test.ts', 'packages/gateway/test/http-events.test.ts'],
  },
  {
    // After a crash of the gateway, a participant that has gone stays present forever.
    package: gateway,
    function: 'Presence.reconcile',
    replace: 'for (const id of present) if (!this.isThere(id)) this.#space.tryEmit(left(id))',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts', 'packages/gateway/test/failure.test.ts'],
  },
  {
    // A program is shown as failing forever, although its gateway has stopped.
    package: gateway,
    function: 'Presence.reconcile',
    replace: 'this.recordPrograms()',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts'],
  },
  {
    // A report of a program's state, which lists no capabilities, counts as the announcement of new capabilities, so that these
    // are never announced.
    package: gateway,
    function: 'presence',
    replace: 'if (participant.capabilities !== undefined) trust.markNotified(id)',
    by: 'trust.markNotified(id)',
    tests: ['packages/gateway/test/presence.test.ts'],
  },
  {
    // Envelopes after a refused one in the same post are logged.
    package: gateway,
    function: 'postEnvelopes',
    replace: 'break',
    by: 'continue',
    tests: ['packages/gateway/test/http.test.ts'],
  },
  {
    // A private question can be found by its seq.
    package: gateway,
    function: 'resolveEnvelope',
    replace: 'if (mayBeRead(row)) return row',
    by: 'if (row !== undefined) return row',
    tests: ['packages/gateway/test/http-envelope.test.ts'],
  },
]
