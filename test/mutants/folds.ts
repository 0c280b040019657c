import type { Mutant } from './mutant.js'

const views = 'packages/folds'

/** Wrong edits of views of a log. The comment of each says what goes wrong. */
export const folds: readonly Mutant[] = [
  // A reply does not show which thought it answers [M15].
  {
    package: 'packages/folds',
    function: 'Thinkers.findAnswered',
    replace: 'return answered',
    by: 'return undefined',
    tests: ['test/conformance/adr-replays.test.ts'],
  },
  // An answer that correlates to a free path (a context that no `reasoning.start` opened) does not find the turn of the path.
  {
    package: 'packages/folds',
    function: 'Assigner.#findAnsweringTurn',
    replace: ' ?? this.#causes.use(toPathKey(from, cause))',
    by: '',
    tests: ['packages/folds/test/free-paths.test.ts'],
  },
  // A question to certain addressees appears as the question that public thoughts in a free path are about.
  {
    package: 'packages/folds',
    function: 'FreeQuestions.apply',
    replace: 'to !== undefined || from === GATEWAY',
    by: 'from === GATEWAY',
    tests: ['packages/folds/test/free-paths.test.ts'],
  },
  // A field after a list is displayed as part of its last item [M29].
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
  // A letter that looks like a Latin one is not escaped within a Latin word.
  {
    package: 'packages/folds',
    function: 'spellOut',
    replace: 'hasLatin.test(letters) ?',
    by: '!hasLatin.test(letters) ?',
    tests: ['packages/folds/test/exact-json.test.ts'],
  },
  {
    // An expired pause is shown as active.
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
    // A cancel by another participant closes a context, though it is only a request.
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
    replace: 'this.#listWithNested(outermost)',
    by: '[outermost]',
    tests: ['packages/folds/test/context-fixtures.test.ts'],
  },
  {
    // The thoughts of a hidden run stay hidden after its end, although the end makes them visible [MEUP-9.7].
    package: views,
    function: 'ContextStates.#close',
    replace: 'outermost.hiddenBy && opened',
    by: 'opened === undefined',
    tests: ['packages/folds/test/context-fixtures.test.ts'],
  },
  {
    // A reader that may read only a part of a turn gets all of it.
    package: 'packages/gateway',
    function: 'selectVisible',
    replace: 'envelopes.filter(({ source }) => mayRead(source))',
    by: 'envelopes',
    tests: ['packages/gateway/test/visibility-views.test.ts', 'packages/gateway/test/http-turns.test.ts'],
  },
  {
    // If an approver calls the proposer, the proposer's work on the call appears as another turn.
    package: views,
    function: 'Assigner.#request',
    replace: 'if (isBack) this.#causes.renew(toKey(proposer, id), data.home)',
    by: '',
    tests: ['packages/folds/test/assign.test.ts', 'packages/folds/test/proposed-calls.test.ts'],
  },
  {
    // A batch of calls is reported when its first call ends, and the results of the others are missing.
    package: views,
    function: 'TurnDecisions.settle',
    replace: 'decision.isReported || members.some(isPending)',
    by: 'decision.isReported',
    tests: ['packages/folds/test/batches.test.ts', 'packages/gateway/test/reasoning-events.test.ts'],
  },
  {
    // A proposal that was already fulfilled is shown as expired.
    package: views,
    function: 'Calls.#onPresence',
    replace: " && expired.state === 'open'",
    by: '',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // A proposal that one participant has rejected is not offered to the others.
    package: views,
    function: 'ProposalViews.#reduce',
    replace: 'change.by === this.#viewer()',
    by: 'true',
    tests: ['packages/ag-ui/test/approvals.test.ts', 'packages/folds/test/proposals.test.ts'],
  },
  {
    // A participant can cancel a call of another participant.
    package: views,
    function: 'Calls.findCancelled',
    replace: 'call?.from === from',
    by: 'true',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // The response of a participant that was not an addressee counts as the answer.
    package: views,
    function: 'Calls.#onResponse',
    replace: ' || call.to?.includes(by) === false',
    by: '',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // An elicitation stays open after its call was answered.
    package: views,
    function: 'Calls.#onResponse',
    replace: 'this.#endElicitations(by, answered, envelope)',
    by: '',
    tests: ['packages/folds/test/call-fixtures.test.ts', 'packages/observer/test/elicitations.test.ts'],
  },
  {
    // An approver is not warned that the program of the proposer has ended.
    package: views,
    function: 'Calls.#onPresence',
    replace: 'call.session === session',
    by: 'false',
    tests: ['packages/folds/test/call-fixtures.test.ts'],
  },
  {
    // A participant that revokes its own grants also revokes those of others.
    package: views,
    function: 'GrantLog.#revoke',
    replace: 'grant.grantor === from && ',
    by: '',
    tests: ['packages/folds/test/grant-fixtures.test.ts'],
  },
  {
    // A grant stays in force after the grant that it rests on has ended.
    package: views,
    function: 'Grants.fall',
    replace: 'doubtful.add(recipient)',
    by: '',
    tests: ['packages/folds/test/grant-fixtures.test.ts', 'packages/gateway/test/grant-chains.test.ts'],
  },
  {
    // A run about another question counts as a cause of an answer.
    package: views,
    function: 'Search.#isAnswering',
    replace: 'if (!isAsked) return false',
    by: '',
    tests: ['packages/folds/test/why.test.ts'],
  },
  {
    // An explanation with a missing cause is shown as complete.
    package: views,
    function: 'Search.#add',
    replace: 'if (cause === undefined) this.#lose()',
    by: 'if (cause === undefined) return',
    tests: ['packages/folds/test/why.test.ts'],
  },
  {
    // The value of a header with a secret name is shown.
    package: views,
    function: 'isSecretField',
    replace: " || (field === 'value' && isSecretPair(object))",
    by: '',
    tests: ['packages/folds/test/redact.test.ts'],
  },
  {
    // A search finds secrets that views mask.
    package: views,
    function: 'listTexts',
    replace: 'isSecretField(value, name) || ',
    by: '',
    tests: ['packages/folds/test/search.test.ts'],
  },
  {
    // In an export, the second line of a thought can look like a step or a turn.
    package: views,
    function: 'quoteFurtherLines',
    replace: 'replace(/\\n/g,',
    by: 'replace(/\\n/,',
    tests: ['packages/folds/test/turn-markdown.test.ts', 'packages/folds/test/context-markdown.test.ts'],
  },
  {
    // The end of a replaced pause ends the pause that has replaced it.
    package: views,
    function: 'Pauses.#end',
    replace: ' && ended.id === ref',
    by: '',
    tests: ['packages/folds/test/participant-fixtures.test.ts'],
  },
  {
    // When the operator changes the configuration, invited participants appear to have left.
    package: views,
    function: 'Participants.#invite',
    replace: "belongs: 'admitted', ",
    by: '',
    tests: ['packages/folds/test/participant-fixtures.test.ts'],
  },
  {
    // A configured participant is forgotten when it leaves.
    package: views,
    function: 'Participants.#onPresence',
    replace: "event === 'leave' && belongs === 'visiting'",
    by: "event === 'leave'",
    tests: ['packages/folds/test/participant-fixtures.test.ts'],
  },
  {
    // The part of a thought before its first phase label, such as `[計画]`, is lost.
    package: views,
    function: 'byLabels',
    replace: "const parts: Part[] = [{ phase: 'thinking', content: before }]",
    by: 'const parts: Part[] = []',
    tests: ['packages/folds/test/parse-thinking.test.ts'],
  },
  {
    // If the clock of the gateway was put back, later steps of a turn have earlier times.
    package: views,
    function: 'Assigner.assign',
    replace: 'if (ts > this.#latest) this.#latest = ts',
    by: 'this.#latest = ts',
    tests: ['packages/folds/test/steps.test.ts'],
  },
]
