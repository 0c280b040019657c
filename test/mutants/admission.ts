import type { Mutant } from './mutant.js'

/** Who is let in, what is admitted of whom, and who may read it. */
export const admission: readonly Mutant[] = [
  // Anybody asks the caller of a call.
  {
    package: 'packages/gateway',
    function: 'elicitationRights',
    replace: 'call.to?.has(from) !== true',
    by: 'false',
    tests: ['test/conformance/sessions.test.ts'],
  },
  // A part of an answer that is for some goes to all.
  {
    // A search finds what is addressed to others.
    package: 'packages/gateway',
    function: 'getSearch',
    replace: 'if (!mayRead(reader, space.decideAudience(row))) continue',
    by: '',
    tests: ['packages/gateway/test/http-search.test.ts'],
  },
  {
    package: 'packages/gateway',
    function: 'Relayed.offer',
    replace: ' || !mayRead(session, this.#audience)',
    by: '',
    tests: ['test/conformance/sessions.test.ts', 'packages/gateway/test/deltas.test.ts'],
  },
  // A delta of another gateway goes to those who could read it before a revocation that it followed.
  {
    package: 'packages/gateway',
    function: 'Member.#hold',
    replace: 'Number(head.after)',
    by: '0',
    tests: ['packages/gateway/test/followers.test.ts'],
  },
  // Deltas make a reader too slow.
  {
    package: 'packages/gateway',
    function: 'Session.send',
    replace: ' + this.#offered',
    by: '',
    tests: ['packages/gateway/test/deltas.test.ts'],
  },
  // Whoever was kicked goes on acting until its connections are closed.
  {
    package: 'packages/gateway',
    function: 'limit',
    replace: ' ?? checkKick(admission, space)',
    by: '',
    tests: ['packages/gateway/test/kicks.test.ts'],
  },
  // To pause one lets all others go on.
  {
    package: 'packages/gateway',
    function: 'Pauses.#pause',
    replace: 'if (isOver(pause, now)) this.#paused.delete(id)',
    by: 'this.#paused.delete(id)',
    tests: ['packages/gateway/test/pauses.test.ts'],
  },
  // Anybody declines what somebody else was granted; that takes no capability.
  {
    package: 'packages/gateway',
    function: 'answerRights',
    replace: 'grant.recipient !== envelope.from',
    by: 'false',
    tests: ['packages/gateway/test/grants.test.ts'],
  },
  // A proposal is good for one call more than was approved.
  {
    package: 'packages/gateway',
    function: 'Proposals.#use',
    replace: '--proposal.uses <= 0',
    by: '--proposal.uses < 0',
    tests: ['packages/gateway/test/proposals.test.ts'],
  },
  // A request that is its addressees' alone is read by whoever wrote the chat that it answers.
  {
    package: 'packages/gateway',
    function: 'askers',
    replace: 'origin.kind === kind',
    by: 'true',
    tests: ['packages/gateway/test/delivery.test.ts'],
  },
  // Whoever starts a run under the name of a path that others think in takes it over.
  {
    package: 'packages/gateway',
    function: 'deduplicate',
    replace: '!isContext(id, space)',
    by: 'true',
    tests: ['packages/gateway/test/free-paths.test.ts'],
  },
  // Anybody tells a caller how its call goes.
  {
    package: 'packages/gateway',
    function: 'notificationRights',
    replace: 'wasCalled === false',
    by: 'false',
    tests: ['packages/gateway/test/notifications.test.ts'],
  },
  // What somebody has proposed is carried out after it was removed.
  {
    package: 'packages/gateway',
    function: 'Trust.forget',
    replace: 'this.#onForgotten(gone)',
    by: '',
    tests: ['packages/gateway/test/proposal-ends.test.ts'],
  },
  // Of a hidden run the thoughts in nested contexts are shown.
  {
    package: 'packages/gateway',
    function: 'HiddenRuns.withholds',
    replace: 'this.#hidden.get(contextRoot(context))',
    by: 'this.#hidden.get(context)',
    tests: ['packages/gateway/test/visibility.test.ts', 'packages/gateway/test/visibility-views.test.ts'],
  },
  // The owner of a run hides what others think in it.
  {
    package: 'protocol',
    function: 'withholds',
    replace: 'id !== owner || from === owner',
    by: 'true',
    tests: ['packages/gateway/test/visibility-views.test.ts'],
  },
  // Whose rights have changed still gets what those get that it was like before.
  {
    package: 'packages/gateway',
    function: 'Session.updateRights',
    replace: 'this.group = getGroupKey(this)',
    by: '',
    tests: ['packages/gateway/test/reconfigure.test.ts', 'packages/gateway/test/grants.test.ts'],
  },
  // Pages of `evil-gate.example` pass for those of `gate.example`.
  {
    package: 'packages/gateway',
    function: 'isOwn',
    replace: 'new URL(origin).host === host.toLowerCase()',
    by: 'new URL(origin).host.endsWith(host.toLowerCase())',
    tests: ['packages/gateway/test/origins.test.ts'],
  },
  // The token of an invitation that was replaced opens what the new one does.
  {
    package: 'packages/gateway',
    function: 'Invitations.end',
    replace: 'this.#byHash.get(invitation.tokenSha256) === participant',
    by: 'this.#byHash.get(participant) === invitation.tokenSha256',
    tests: ['packages/gateway/test/invitation-tokens.test.ts', 'packages/gateway/test/invitations.test.ts'],
  },
  // Slow connections of a busy address count on when they have gone: in the end it may have no more.
  {
    package: 'packages/gateway',
    function: 'leave',
    replace: 'if (isSlow) waiting.slow--',
    by: '',
    tests: ['packages/gateway/test/pending-connections.test.ts'],
  },
  // A secret that the end of a tool's name cuts in two is not recognised, and logged.
  {
    package: 'packages/gateway',
    function: 'Decisions.#note',
    replace: 'head(this.#space.safety.guard(tool, meter).text, maxToolChars)',
    by: 'this.#space.safety.guard(head(tool, maxToolChars)).text',
    tests: ['packages/gateway/test/decision-records.test.ts'],
  },
  // Where many come, who is over one rate is forgotten for another that it has left, and begins anew.
  {
    package: 'packages/gateway',
    function: 'Rates.#forget',
    replace: '[...buckets.keys()].every(',
    by: '[...buckets.keys()].some(',
    tests: ['packages/gateway/test/rates.test.ts'],
  },
]
