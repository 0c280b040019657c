import type { Mutant } from './mutant.js'

const gateway = 'packages/gateway'

/** Nothing is lost and nothing comes twice: for who comes back, who reads too little, who pages and who posts. */
export const resume: readonly Mutant[] = [
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
    // Where a page ends tells whether something that may not be read fits the filter.
    package: gateway,
    function: 'readHistory',
    replace: '!mayRead(reader, delivery.audience)',
    by: 'messages.length < limit && !mayRead(reader, delivery.audience)',
    tests: ['packages/gateway/test/silent-reading.test.ts'],
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
    replace: 'for (const id of present) if (!this.#isThere(id)) this.#try(left(id))',
    by: '',
    tests: ['packages/gateway/test/presence.test.ts', 'packages/gateway/test/failure.test.ts'],
  },
  {
    // What follows a refusal in the same post is logged all the same.
    package: gateway,
    function: 'postEnvelopes',
    replace: 'break',
    by: 'continue',
    tests: ['packages/gateway/test/http.test.ts'],
  },
]
