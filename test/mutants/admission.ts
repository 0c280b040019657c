import type { Mutant } from './mutant.js'

/** Authentication, admission and rights to read. */
export const admission: readonly Mutant[] = [
  // Any participant can ask the caller of a call.
  {
    package: 'packages/gateway',
    function: 'elicitationRights',
    replace: 'call.to?.includes(from) !== true',
    by: 'false',
    tests: ['test/conformance/sessions.test.ts'],
  },
  {
    package: 'packages/gateway',
    function: 'Relayed.offer',
    replace: ' || !mayRead(session, this.#audience)',
    by: '',
    tests: ['test/conformance/sessions.test.ts', 'packages/gateway/test/deltas.test.ts'],
  },
  // A delta of another gateway is delivered by the rights before a revocation that preceded it.
  {
    package: 'packages/gateway',
    function: 'ClusterMember.#hold',
    replace: 'Number(head.after)',
    by: '0',
    tests: ['packages/gateway/test/followers.test.ts'],
  },
  // A connection whose envelopes wait for their rate is read on, so that they pile up.
  {
    package: 'packages/gateway',
    function: 'openConnection',
    replace: 'deciding.then(whenWritable)',
    by: 'undefined',
    tests: ['packages/gateway/test/holding.test.ts'],
  },
  // The end of a private context is sent to everyone.
  {
    package: 'packages/gateway',
    function: 'Presence.#readersOf',
    replace: 'audience === undefined',
    by: 'audience !== null',
    tests: ['packages/gateway/test/ends.test.ts'],
  },
  // Grants that ended with another one are reported as ended by themselves, if no one looked in between.
  {
    package: 'packages/gateway',
    function: 'Trust.advance',
    replace: 'this.#end(this.soonest)',
    by: 'this.#end(now)',
    tests: ['packages/gateway/test/grant-chains.test.ts'],
  },
  // Deltas make a reader too slow.
  {
    package: 'packages/gateway',
    function: 'Session.send',
    replace: ' + this.#offered',
    by: '',
    tests: ['packages/gateway/test/deltas.test.ts'],
  },
  // A kicked participant can act until its connections are closed.
  {
    package: 'packages/gateway',
    function: 'limit',
    replace: ' ?? checkKick(admission, space)',
    by: '',
    tests: ['packages/gateway/test/kicks.test.ts'],
  },
  // To pause one lets all others go on.
  {
    package: 'packages/folds',
    function: 'Pauses.#shrink',
    replace: 'if (isOver(each, now)) this.#paused.delete(id)',
    by: 'this.#paused.delete(id)',
    tests: ['packages/gateway/test/pauses.test.ts'],
  },
  // Any participant can decline another one's grant, without a capability.
  {
    package: 'packages/gateway',
    function: 'answerRights',
    replace: 'grant.recipient !== envelope.from',
    by: 'false',
    tests: ['packages/gateway/test/grants.test.ts'],
  },
  // A proposal is good for one call more than was approved.
  {
    package: 'packages/folds',
    function: 'Calls.#onRequest',
    replace: 'usesLeft === 0 ?',
    by: 'usesLeft < 0 ?',
    tests: ['packages/folds/test/call-fixtures.test.ts', 'packages/gateway/test/proposals.test.ts'],
  },
  // A request that only its addressees may read is readable by the author of the chat that it answers.
  {
    package: 'packages/gateway',
    function: 'askers',
    replace: 'origin.kind === kind',
    by: 'true',
    tests: ['packages/gateway/test/delivery.test.ts'],
  },
  // Starting a run under the name of a free path that others think in takes over the path.
  {
    package: 'packages/gateway',
    function: 'deduplicate',
    replace: '!isContext(id, space)',
    by: 'true',
    tests: ['packages/gateway/test/free-paths.test.ts'],
  },
  // Any participant can report progress of another one's call.
  {
    package: 'packages/gateway',
    function: 'notificationRights',
    replace: 'wasCalled === false',
    by: 'false',
    tests: ['packages/gateway/test/notifications.test.ts'],
  },
  // A proposal is carried out after its proposer was removed.
  {
    package: 'packages/gateway',
    function: 'Trust.forget',
    replace: 'this.#onForgotten(gone)',
    by: '',
    tests: ['packages/gateway/test/call-fixtures.test.ts'],
  },
  // Thoughts in nested contexts of a hidden run are shown.
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
  // After a change of rights, a participant still gets the batches of participants with its former rights.
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
  // Among many participants, one that is over one rate is forgotten because it is under another, and starts again.
  {
    package: 'packages/gateway',
    function: 'Rates.#forget',
    replace: '[...buckets.keys()].every(',
    by: '[...buckets.keys()].some(',
    tests: ['packages/gateway/test/rates.test.ts'],
  },
  // A socket of a participant may send as much per turn of the event loop as the whole participant.
  {
    package: 'packages/gateway',
    function: 'TurnShare.countFrame',
    replace: 'this.#frames++',
    by: '',
    tests: ['packages/gateway/test/turn-share.test.ts'],
  },
  // A page whose name is made to point to this machine is of the gateway's own origin.
  {
    package: 'packages/gateway',
    function: 'createHostCheck',
    replace: '(trustProxy || !isLocal)',
    by: 'isLocal',
    tests: ['packages/gateway/test/origins.test.ts'],
  },
  // One participant fills the disk.
  {
    package: 'packages/gateway',
    function: 'limitLog',
    replace: "let refusal = checkRate(admission, space, 'log', length)",
    by: "let refusal = checkRate(admission, space, 'log', 0)",
    tests: ['packages/gateway/test/log-rate.test.ts'],
  },
  // Two gateways with different files decide differently.
  {
    package: 'packages/gateway',
    function: 'SpaceHost.#followConfiguration',
    replace: 'differs.length === 0 ? this.#own : withRecorded(this.#own, configured)',
    by: 'this.#own',
    tests: ['packages/gateway/test/followers.test.ts'],
  },
  // A decision keeps the action of a refused call, which cannot be erased.
  {
    package: 'protocol',
    function: 'isErasable',
    replace: '!lastingKinds.includes(kind)',
    by: "['chat', 'mcp'].includes(namespaceOf(kind))",
    tests: ['packages/gateway/test/erasing.test.ts'],
  },
  // A proposal is approved by its id after it has expired.
  {
    package: 'packages/gateway',
    function: 'fill',
    replace: 'space.state.calls.proposal(id, now) && ',
    by: '',
    tests: ['packages/gateway/test/approval-by-id.test.ts'],
  },
  // A call that may only be proposed is proposed for ever.
  {
    package: 'packages/gateway',
    function: 'proposeInstead',
    replace: 'const terms = orPropose === true ? {} : orPropose',
    by: 'const terms = {}',
    tests: ['packages/gateway/test/or-propose.test.ts'],
  },
  // Consequences of a call in a private run are sent to everyone.
  {
    package: 'packages/gateway',
    function: 'privateAudience',
    replace: 'run === undefined && before.length === 0',
    by: 'run === undefined',
    tests: ['packages/gateway/test/private-runs.test.ts'],
  },
  // A private question is answered in public.
  {
    package: 'packages/gateway',
    function: 'findAudience',
    replace: "return own === 'everyone' ? undefined : own",
    by: 'return undefined',
    tests: ['packages/gateway/test/private-runs.test.ts'],
  },
  // The last one of several grants is named.
  {
    package: 'packages/gateway',
    function: 'Holdings.rightFor',
    replace: 'matched < end',
    by: 'matched <= end',
    tests: ['packages/gateway/test/allowed-by.test.ts'],
  },
  // A call is said to have passed by what is configured now.
  {
    package: 'packages/gateway',
    function: 'LoggedRights.configurationAt',
    replace: 'each.seq < seq',
    by: 'each.seq > 0',
    tests: ['packages/gateway/test/right-words.test.ts'],
  },
  // The grant behind a right is shown to readers that may not read the grant.
  {
    package: 'packages/gateway',
    function: 'LoggedRights.#read',
    replace: '!mayRead(this.#reader, this.#space.decideAudience(heading))',
    by: 'false',
    tests: ['packages/gateway/test/right-words.test.ts'],
  },
]
