import type { Mutant } from './mutant.js'

/** Wrong edits of authentication, admission and rights to read. The comment of each says what goes wrong. */
export const admission: readonly Mutant[] = [
  // A participant can send an elicitation about a call that was not addressed to it.
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
  // A delta from another gateway is delivered to readers whose right to read was revoked before it.
  {
    package: 'packages/gateway',
    function: 'ClusterMember.#hold',
    replace: 'Number(head.after)',
    by: '0',
    tests: ['packages/gateway/test/followers.test.ts'],
  },
  // The gateway reads on from a connection whose envelopes wait for their rate, so that they pile up in memory.
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
  // If several grants expire between two checks, a grant that ended with the grant it rests on is reported as expired itself.
  {
    package: 'packages/gateway',
    function: 'Trust.advance',
    replace: 'this.#end(this.soonest)',
    by: 'this.#end(now)',
    tests: ['packages/gateway/test/grant-chains.test.ts'],
  },
  // Unsent deltas count as backlog, so that a reader is closed as too slow.
  {
    package: 'packages/gateway',
    function: 'Session.send',
    replace: ' + this.#offered',
    by: '',
    tests: ['packages/gateway/test/deltas.test.ts'],
  },
  // A kicked participant can still act until its connections are closed.
  {
    package: 'packages/gateway',
    function: 'limit',
    replace: ' ?? checkKick(admission, space)',
    by: '',
    tests: ['packages/gateway/test/kicks.test.ts'],
  },
  // Pausing one participant resumes all others.
  {
    package: 'packages/folds',
    function: 'Pauses.#shrink',
    replace: 'if (isOver(each, now)) this.#paused.delete(id)',
    by: 'this.#paused.delete(id)',
    tests: ['packages/gateway/test/pauses.test.ts'],
  },
  // A participant can decline a grant to another participant.
  {
    package: 'packages/gateway',
    function: 'answerRights',
    replace: 'grant.recipient !== envelope.from',
    by: 'false',
    tests: ['packages/gateway/test/grants.test.ts'],
  },
  // A proposal can be fulfilled once more than it allows.
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
  // A `reasoning.start` whose id is the path of a free context, which no one has opened but others think in, takes it over.
  {
    package: 'packages/gateway',
    function: 'deduplicate',
    replace: '!isContext(id, space)',
    by: 'true',
    tests: ['packages/gateway/test/free-paths.test.ts'],
  },
  // A participant can report progress of a call that was not addressed to it.
  {
    package: 'packages/gateway',
    function: 'notificationRights',
    replace: 'wasCalled === false',
    by: 'false',
    tests: ['packages/gateway/test/notifications.test.ts'],
  },
  // A proposal is carried out although its proposer was removed.
  {
    package: 'packages/gateway',
    function: 'Trust.forget',
    replace: 'this.#onForgotten(gone)',
    by: '',
    tests: ['packages/gateway/test/call-fixtures.test.ts'],
  },
  // Thoughts in nested contexts of a hidden run are visible.
  {
    package: 'packages/gateway',
    function: 'HiddenRuns.withholds',
    replace: 'this.#hidden.get(contextRoot(context))',
    by: 'this.#hidden.get(context)',
    tests: ['packages/gateway/test/visibility.test.ts', 'packages/gateway/test/visibility-views.test.ts'],
  },
  // If the owner of a run hides its own thoughts, thoughts of others in the run are hidden too.
  {
    package: 'protocol',
    function: 'withholds',
    replace: 'id !== owner || from === owner',
    by: 'true',
    tests: ['packages/gateway/test/visibility-views.test.ts'],
  },
  // After a change of its rights, a participant still gets the batches for its former rights.
  {
    package: 'packages/gateway',
    function: 'Session.updateRights',
    replace: 'this.group = getGroupKey(this)',
    by: '',
    tests: ['packages/gateway/test/reconfigure.test.ts', 'packages/gateway/test/grants.test.ts'],
  },
  // The origin check accepts pages of `evil-gate.example` for `gate.example`.
  {
    package: 'packages/gateway',
    function: 'isOwn',
    replace: 'new URL(origin).host === host.toLowerCase()',
    by: 'new URL(origin).host.endsWith(host.toLowerCase())',
    tests: ['packages/gateway/test/origins.test.ts'],
  },
  // The token of a replaced invitation gives the rights of the new one.
  {
    package: 'packages/gateway',
    function: 'Invitations.end',
    replace: 'this.#byHash.get(invitation.tokenSha256) === participant',
    by: 'this.#byHash.get(participant) === invitation.tokenSha256',
    tests: ['packages/gateway/test/invitation-tokens.test.ts', 'packages/gateway/test/invitations.test.ts'],
  },
  // Closed connections still count as slow, until a busy address may not open any further connections.
  {
    package: 'packages/gateway',
    function: 'leave',
    replace: 'if (isSlow) waiting.slow--',
    by: '',
    tests: ['packages/gateway/test/pending-connections.test.ts'],
  },
  // A secret that is cut by the end of a long tool name is not recognized, and is logged.
  {
    package: 'packages/gateway',
    function: 'Decisions.#note',
    replace: 'head(this.#space.safety.guard(tool, meter).text, maxToolChars)',
    by: 'this.#space.safety.guard(head(tool, maxToolChars)).text',
    tests: ['packages/gateway/test/decision-records.test.ts'],
  },
  // The rate buckets of a participant are forgotten as soon as one of them is full, so that its empty ones are full again.
  {
    package: 'packages/gateway',
    function: 'Rates.#forget',
    replace: '[...buckets.keys()].every(',
    by: '[...buckets.keys()].some(',
    tests: ['packages/gateway/test/rates.test.ts'],
  },
  // One socket may send as many frames per turn of the event loop as all sockets of its participant together should.
  {
    package: 'packages/gateway',
    function: 'TurnShare.countFrame',
    replace: 'this.#frames++',
    by: '',
    tests: ['packages/gateway/test/turn-share.test.ts'],
  },
  // DNS rebinding: a page under a name that points to this machine counts as of the gateway's own origin.
  {
    package: 'packages/gateway',
    function: 'createHostCheck',
    replace: '(trustProxy || !isLocal)',
    by: 'isLocal',
    tests: ['packages/gateway/test/origins.test.ts'],
  },
  // The bytes that a participant adds to the log are not charged to its rate, so that a single participant can fill the disk.
  {
    package: 'packages/gateway',
    function: 'limitLog',
    replace: "let refusal = checkRate(admission, space, 'log', length)",
    by: "let refusal = checkRate(admission, space, 'log', 0)",
    tests: ['packages/gateway/test/log-rate.test.ts'],
  },
  // A gateway that follows another one decides by its own configuration file instead of the configuration in the log.
  {
    package: 'packages/gateway',
    function: 'SpaceHost.#followConfiguration',
    replace: 'differs.length === 0 ? this.#own : withRecorded(this.#own, configured)',
    by: 'this.#own',
    tests: ['packages/gateway/test/followers.test.ts'],
  },
  // A decision about a refused call cannot be erased, although it contains the arguments of the call.
  {
    package: 'protocol',
    function: 'isErasable',
    replace: '!lastingKinds.includes(kind)',
    by: "['chat', 'mcp'].includes(namespaceOf(kind))",
    tests: ['packages/gateway/test/erasing.test.ts'],
  },
  // A proposal can be approved by its id after it has expired.
  {
    package: 'packages/gateway',
    function: 'fill',
    replace: 'space.state.calls.proposal(id, now) && ',
    by: '',
    tests: ['packages/gateway/test/approval-by-id.test.ts'],
  },
  // The proposal that `orPropose` makes does not get the requested expiry, and stays open.
  {
    package: 'packages/gateway',
    function: 'proposeInstead',
    replace: 'const terms = orPropose === true ? {} : orPropose',
    by: 'const terms = {}',
    tests: ['packages/gateway/test/or-propose.test.ts'],
  },
  // Envelopes about a call in a private run are sent to everyone.
  {
    package: 'packages/gateway',
    function: 'privateAudience',
    replace: 'run === undefined && before.length === 0',
    by: 'run === undefined',
    tests: ['packages/gateway/test/private-runs.test.ts'],
  },
  // The answer to a private question is sent to everyone.
  {
    package: 'packages/gateway',
    function: 'findAudience',
    replace: "return own === 'everyone' ? undefined : own",
    by: 'return undefined',
    tests: ['packages/gateway/test/private-runs.test.ts'],
  },
  // If the first capability of a grant allows a call, `allowedBy` of the call names the grant before that grant.
  {
    package: 'packages/gateway',
    function: 'Holdings.rightFor',
    replace: 'matched < end',
    by: 'matched <= end',
    tests: ['packages/gateway/test/allowed-by.test.ts'],
  },
  // The right by which an earlier call was allowed is explained by the present configuration, not by the one of that time.
  {
    package: 'packages/gateway',
    function: 'LoggedRights.configurationAt',
    replace: 'each.seq < seq',
    by: 'each.seq > 0',
    tests: ['packages/gateway/test/right-words.test.ts'],
  },
  // The grant by which a call was allowed is shown to readers of the call that may not read the grant.
  {
    package: 'packages/gateway',
    function: 'LoggedRights.#read',
    replace: '!mayRead(this.#reader, this.#space.decideAudience(heading))',
    by: 'false',
    tests: ['packages/gateway/test/right-words.test.ts'],
  },
]
