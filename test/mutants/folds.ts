import type { Mutant } from './mutant.js'

const views = 'packages/folds'

/** Views of a log show what happened, as far as the reader may see it. */
export const folds: readonly Mutant[] = [
  // The thought that another one answers is not shown [M15].
  {
    package: 'packages/folds',
    function: 'Thinkers.findAnswered',
    replace: 'return answered',
    by: 'return undefined',
    tests: ['test/conformance/adr-replays.test.ts'],
  },
  // Answers to work in a free path are not connected to anything.
  {
    package: 'packages/folds',
    function: 'Assigner.#findAnsweringTurn',
    replace: ' ?? this.#causes.use(toPathKey(from, cause))',
    by: '',
    tests: ['packages/folds/test/free-paths.test.ts'],
  },
  // An addressed question is shown to everyone, as if it was about work in a free path.
  {
    package: 'packages/folds',
    function: 'FreeQuestions.apply',
    replace: 'to !== undefined || from === GATEWAY',
    by: 'from === GATEWAY',
    tests: ['packages/folds/test/free-paths.test.ts'],
  },
  // A field after a list is drawn into its last item [M29].
  {
    package: 'packages/folds',
    function: 'joinFields',
    replace: 'endsInList.test(text)',
    by: 'false',
    tests: ['packages/folds/test/context-markdown.test.ts', 'packages/cli/test/rich-kinds.test.ts'],
  },
  // A truncated proposal can be approved.
  {
    package: 'packages/folds',
    function: 'exactText',
    replace: 'isWhole: !isCut && isExactlyParsed(params)',
    by: 'isWhole: isExactlyParsed(params)',

    tests: ['packages/folds/test/exact-proposal.test.ts'],
  },
  // A letter that looks like another one hides in a word.
  {
    package: 'packages/folds',
    function: 'spellOut',
    replace: 'hasLatin.test(letters) ?',
    by: '!hasLatin.test(letters) ?',
    tests: ['packages/folds/test/exact-json.test.ts'],
  },
  {
    // A temporary pause seems permanent.
    package: views,
    function: 'Pauses.get',
    replace: 'pause !== undefined && isOver(pause, now) ? undefined : pause',
    by: 'pause',
    tests: [
      'packages/folds/test/participant-fixtures.test.ts',
      'packages/agent-sdk/test/participants.test.ts',
    ],
  },
  {
    // Any participant seems to end what another one thinks about.
    package: views,
    function: 'ContextStates.#close',
    replace: ' || (from !== outermost.owner && from !== GATEWAY)',
    by: '',
    tests: ['packages/folds/test/context-fixtures.test.ts', 'packages/folds/test/turn-state.test.ts'],
  },
  {
    // Contexts nested in an ended run stay open.
    package: views,
    function: 'ContextStates.#close',
    replace: '[outermost, ...nested]',
    by: '[outermost]',
    tests: ['packages/folds/test/context-fixtures.test.ts'],
  },
  {
    // A hidden run stays hidden when it is over.
    package: views,
    function: 'ContextStates.#close',
    replace: 'outermost.hiddenBy && opened',
    by: 'opened === undefined',
    tests: ['packages/folds/test/context-fixtures.test.ts'],
  },
  {
    // Turns are shown in full to readers that may only read parts.
    package: 'packages/gateway',
    function: 'selectVisible',
    replace: 'envelopes.filter(({ source }) => mayRead(source))',
    by: 'envelopes',
    tests: ['packages/gateway/test/visibility-views.test.ts', 'packages/gateway/test/http-turns.test.ts'],
  },
  {
    // The proposer's work on a fulfilment seems to be another turn.
    package: views,
    function: 'Assigner.#request',
    replace: 'if (isBack) this.#causes.renew(toKey(proposer, id), data.home)',
    by: '',
    tests: ['packages/folds/test/assign.test.ts', 'packages/folds/test/proposed-calls.test.ts'],
  },
  {
    // A batch is reported when its first call ends, and the results of the others never are.
    package: views,
    function: 'TurnDecisions.settle',
    replace: 'decision.isReported || members.some(isPending)',
    by: 'decision.isReported',
    tests: ['packages/folds/test/batches.test.ts', 'packages/gateway/test/reasoning-events.test.ts'],
  },
  {
    // A proposal that was approved and carried out is shown as expired.
    package: views,
    function: 'Calls.#onPresence',
    replace: " && expired.state === 'open'",
    by: '',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // A proposal that one participant has rejected is offered to no one.
    package: views,
    function: 'ProposalViews.#reduce',
    replace: 'change.by === this.#viewer()',
    by: 'true',
    tests: ['packages/ag-ui/test/approvals.test.ts', 'packages/folds/test/proposals.test.ts'],
  },
  {
    // Any participant can end another one's call.
    package: views,
    function: 'Calls.findCancelled',
    replace: 'call?.from === from',
    by: 'true',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // The answer of a participant that was not asked counts.
    package: views,
    function: 'Calls.#onResponse',
    replace: ' || call.to?.includes(by) === false',
    by: '',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // A question stays open whose call is over.
    package: views,
    function: 'Calls.#onResponse',
    replace: 'this.#endElicitations(by, answered, envelope)',
    by: '',
    tests: ['packages/folds/test/call-fixtures.test.ts', 'packages/observer/test/elicitations.test.ts'],
  },
  {
    // An approver is not warned that no one waits.
    package: views,
    function: 'Calls.#onPresence',
    replace: 'call.session === session',
    by: 'false',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // Revoking one's own grants seems to revoke those of others.
    package: views,
    function: 'GrantLog.#revoke',
    replace: 'grant.grantor === from && ',
    by: '',
    tests: ['packages/folds/test/grant-fixtures.test.ts'],
  },
  {
    // Grants that another grant depends on may be dropped.
    package: views,
    function: 'Grants.fall',
    replace: 'doubtful.add(recipient)',
    by: '',
    tests: ['packages/folds/test/grant-fixtures.test.ts', 'packages/gateway/test/grant-chains.test.ts'],
  },
  {
    // The answer to another question is taken for the cause.
    package: views,
    function: 'Search.#isAnswering',
    replace: 'if (!isAsked) return false',
    by: '',
    tests: ['packages/folds/test/why.test.ts'],
  },
  {
    // An explanation seems whole where what was answered is missing.
    package: views,
    function: 'Search.#add',
    replace: 'if (cause === undefined) this.#lose()',
    by: 'if (cause === undefined) return',
    tests: ['packages/folds/test/why.test.ts'],
  },
  {
    // A header's secret is shown.
    package: views,
    function: 'isSecretField',
    replace: " || (field === 'value' && isSecretPair(object))",
    by: '',
    tests: ['packages/folds/test/redact.test.ts'],
  },
  {
    // A search finds the secret that views do not show.
    package: views,
    function: 'listTexts',
    replace: 'isSecretField(value, name) || ',
    by: '',
    tests: ['packages/folds/test/search.test.ts'],
  },
  {
    // The second line of a thought can forge a step or a turn of the audit.
    package: views,
    function: 'quoteFurtherLines',
    replace: 'replace(/\\n/g,',
    by: 'replace(/\\n/,',
    tests: ['packages/folds/test/turn-markdown.test.ts', 'packages/folds/test/context-markdown.test.ts'],
  },
  {
    // The end of a pause ends the one that has replaced it.
    package: views,
    function: 'Pauses.#end',
    replace: ' && ended.id === ref',
    by: '',
    tests: ['packages/folds/test/participant-fixtures.test.ts'],
  },
  {
    // Invited participants seem to have left when the operator changes something.
    package: views,
    function: 'Participants.#invite',
    replace: "belongs: 'admitted', ",
    by: '',
    tests: ['packages/folds/test/participant-fixtures.test.ts'],
  },
  {
    // A participant that leaves is forgotten, though the operator configured it.
    package: views,
    function: 'Participants.#onPresence',
    replace: "event === 'leave' && belongs === 'visiting'",
    by: "event === 'leave'",
    tests: ['packages/folds/test/participant-fixtures.test.ts'],
  },
  {
    // Thoughts before the first label are lost.
    package: views,
    function: 'byLabels',
    replace: "const parts: Part[] = [{ phase: 'thinking', content: before }]",
    by: 'const parts: Part[] = []',
    tests: ['packages/folds/test/parse-thinking.test.ts'],
  },
  {
    // If the clock was put back, later steps precede earlier ones.
    package: views,
    function: 'Assigner.assign',
    replace: 'if (ts > this.#latest) this.#latest = ts',
    by: 'this.#latest = ts',
    tests: ['packages/folds/test/steps.test.ts'],
  },
]
