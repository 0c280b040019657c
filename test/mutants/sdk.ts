import type { Mutant } from './mutant.js'

const agentSdk = 'packages/agent-sdk'

export const sdk: readonly Mutant[] = [
  // A client that extracts no reasoning is warned of [T09].
  {
    package: agentSdk,
    function: 'reasoningBy',
    replace: 'if (!canExtract(client)) return null',
    by: "if (!canExtract(client)) return console.warn('no extractor') ?? null",
    tests: [
      'packages/agent-sdk/test/extract/requirements.test.ts',
      'packages/agent-sdk/test/transcript/generate.test.ts',
    ],
  },
  // What one has rejected is offered to nobody.
  {
    package: agentSdk,
    function: 'Proposals.#onChange',
    replace: 'change.by === this.#client.id',
    by: 'true',
    tests: [
      'packages/acp/test/serve/permissions.test.ts',
      'packages/mcp-bridge/test/serve-proposals.test.ts',
    ],
  },
  // Pings and small pieces of a large frame do not keep a line: it is cut every 50 seconds.
  {
    package: agentSdk,
    function: 'watchSilence',
    replace: 'heard !== count || now < heardAt',
    by: 'now < heardAt',
    tests: ['packages/agent-sdk/test/silence.test.ts'],
  },
  // What a dead line still brings is shown beside what its successor brings.
  {
    package: agentSdk,
    function: 'Connection.#endLine',
    replace: 'this.#line = undefined',
    by: '',
    tests: ['packages/agent-sdk/test/silence.test.ts'],
  },
  // Whoever leaves a call unanswered is waited for until the call times out.
  {
    package: agentSdk,
    function: 'Attendance.watch',
    replace: '!isAway && !isRestarted',
    by: '!isRestarted',
    tests: ['packages/agent-sdk/test/away.test.ts'],
  },
  // What was asked before a handler stood is lost.
  {
    package: agentSdk,
    function: 'Arrivals.#passKept',
    replace: 'for (const { chat } of kept) this.#pass(chat)',
    by: '',
    tests: ['packages/agent-sdk/test/arrivals.test.ts'],
  },
  // A question that was answered while its agent was away is answered again.
  {
    package: agentSdk,
    function: 'Arrivals.#onMessage',
    replace: 'this.#isTaken && !this.#replay.isReplaying',
    by: 'this.#isTaken',
    tests: ['packages/agent-sdk/test/replayed-questions.test.ts'],
  },
  // What is thought about a private question is read by everybody.
  {
    package: agentSdk,
    function: 'ReasoningContext.#send',
    replace: '...this.#audience, ',
    by: '',
    tests: ['packages/agent-sdk/test/private-runs.test.ts'],
  },
  // A gateway that wants to be left alone is dialled again at once.
  {
    package: agentSdk,
    function: 'Connection.#retry',
    replace: 'Math.max(backoffMs, getRetryAfterMs(error) ?? 0)',
    by: 'backoffMs',
    tests: ['test/conformance/client-kit.test.ts'],
  },
  // The JSON-RPC id 1.0 comes back as 1.
  {
    package: agentSdk,
    function: 'createResponse',
    replace: "copyNumberTexts({ jsonrpc: '2.0', id: payload.id ?? id, ...outcome }, payload)",
    by: "{ jsonrpc: '2.0', id: payload.id ?? id, ...outcome }",
    tests: ['test/conformance/client-kit.test.ts'],
  },
  // Where the log is another one, nothing is heard until it is as long as the old one was.
  {
    package: agentSdk,
    function: 'Connection.#onWelcome',
    replace: "if (welcome.resume.status === 'lost') this.#lastSeq = 0",
    by: '',
    tests: ['packages/agent-sdk/test/link.test.ts'],
  },
  // Anybody takes back what somebody else has asked.
  {
    package: agentSdk,
    function: 'Turns.#onCancel',
    replace: ' && turn.from === cancel.from',
    by: '',
    tests: ['packages/agent-sdk/test/turns.test.ts'],
  },
  // Whoever interrupts one run interrupts all.
  {
    package: agentSdk,
    function: 'ReasoningContext.#onCancel',
    replace: ' || envelope.context !== this.context',
    by: '',
    tests: ['packages/agent-sdk/test/reasoning.test.ts'],
  },
  // A call that was given up before it was made is made all the same.
  {
    package: agentSdk,
    function: 'Calls.make',
    replace: 'signal?.aborted',
    by: 'false',
    tests: ['packages/agent-sdk/test/request.test.ts'],
  },
  // A tool begins though its call was cancelled while the arguments were checked.
  {
    package: agentSdk,
    function: 'Tools.#run',
    replace: 'signal.throwIfAborted()',
    by: '',
    tests: ['packages/agent-sdk/test/request.test.ts'],
  },
  // Whoever always allows what was proposed allows every tool that its target has.
  {
    package: agentSdk,
    function: 'getAlwaysCapability',
    replace: ', ...wanted',
    by: '',
    tests: ['packages/agent-sdk/test/trust.test.ts'],
  },
  // A line of what somebody says passes for somebody else's.
  {
    package: agentSdk,
    function: 'quoteFurtherLines',
    replace: ".replaceAll('\\n', '\\n> ')",
    by: '',
    tests: ['packages/agent-sdk/test/model/framing.test.ts'],
  },
  // A result passes for what the agent itself says of the call.
  {
    package: agentSdk,
    function: 'frameResult',
    replace: 'isLikeOurs(line)',
    by: 'false',
    tests: ['packages/agent-sdk/test/model/framing.test.ts'],
  },
  // Tools of anybody reach a model, where nobody has chosen.
  {
    package: agentSdk,
    function: 'compileChoices',
    replace: ' && isDefault(participant)',
    by: '',
    tests: ['packages/agent-sdk/test/model/strangers.test.ts'],
  },
  // One that never answers is waited for every ten seconds.
  {
    package: agentSdk,
    function: 'backOff',
    replace: ' * 2 ** Math.min(known.silences, 30)',
    by: '',
    tests: ['packages/agent-sdk/test/answers.test.ts'],
  },
  // A call without the text of a name is allowed for every tool.
  {
    package: agentSdk,
    function: 'getAlwaysCapability',
    replace: "typeof named === 'string' && named !== ''",
    by: 'true',
    tests: ['packages/agent-sdk/test/trust.test.ts'],
  },
  // One is resumed, and everybody goes on.
  {
    package: agentSdk,
    function: 'Pauses.onEnvelope',
    replace: ' && to?.includes(this.#client.id)',
    by: '',
    tests: ['packages/agent-sdk/test/pause.test.ts'],
  },
  // What was said in private is recalled in an answer to everybody.
  {
    package: agentSdk,
    function: 'ConversationLog.before',
    replace: 'audience?.every((id) => from === id || to.includes(id)) === true',
    by: 'audience?.every((id) => from === id || to.includes(id)) !== false',
    tests: ['packages/agent-sdk/test/model/memory.test.ts'],
  },
  // What a model thinks in a call that it only spoke of is shown.
  {
    package: agentSdk,
    function: 'TagReader.#readInCall',
    replace: 'if (!this.#parts.looksCalled) this.#parts.textWasThought()',
    by: '',
    tests: ['packages/agent-sdk/test/extract/tags.test.ts', 'packages/agent-sdk/test/model/habits.test.ts'],
  },
  // A thought that its template begins is shown while it is written.
  {
    package: agentSdk,
    function: 'Liveness.constructor',
    replace: 'live ?? baseURL === undefined',
    by: 'live ?? true',
    tests: ['packages/agent-sdk/test/model/unseen-thoughts.test.ts'],
  },
  // An answer that shows a call of a tool makes it.
  {
    package: agentSdk,
    function: 'findWritten',
    replace: 'isAtEnd ?',
    by: 'true ?',
    tests: ['packages/agent-sdk/test/model/habits.test.ts'],
  },
  // A name that may be two tools is one of them.
  {
    package: agentSdk,
    function: 'findAlike',
    replace: 'alike.length === 1',
    by: 'alike.length > 0',
    tests: ['packages/agent-sdk/test/model/habits.test.ts'],
  },
  // A long number is rounded on its way from a model to a tool.
  {
    package: agentSdk,
    function: 'splitRationale',
    replace: 'copyNumberTexts(args, input)',
    by: 'args',
    tests: ['packages/agent-sdk/test/model/exact-numbers.test.ts'],
  },
  // Signed thoughts are lost, without which the provider refuses the next request.
  {
    package: agentSdk,
    function: 'endBlock',
    replace: 'collector.opaque(content)',
    by: '',
    tests: [
      'packages/agent-sdk/test/extract/families.test.ts',
      'packages/agent-sdk/test/extract/requirements.test.ts',
    ],
  },
  // A transcript whose end was cut off is whole.
  {
    package: agentSdk,
    function: 'verifyCommits',
    replace:
      "if (head !== undefined && head !== parent) return { ok: false, at: commits.length, problem: 'head' }",
    by: '',
    tests: ['packages/agent-sdk/test/transcript/chain.test.ts'],
  },
  // Of a prompt that is too long, what was said goes before what tools gave back.
  {
    package: agentSdk,
    function: 'leastFirst',
    replace: 'a.compression_priority - b.compression_priority',
    by: 'b.compression_priority - a.compression_priority',
    tests: ['packages/agent-sdk/test/transcript/compile.test.ts'],
  },
  // Prompts are kept though nobody asked for that.
  {
    package: agentSdk,
    function: 'TurnRecorder.#toPrompt',
    replace: "const isFull = mode === 'full'",
    by: 'const isFull = true',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // What a tool gave back is kept with its secrets.
  {
    package: agentSdk,
    function: 'TurnRecorder.results',
    replace: 'this.#options.mask.text(text)',
    by: 'text',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A commit that was taken out is not missed.
  {
    package: agentSdk,
    function: 'findProblem',
    replace: 'if (row.number !== number)',
    by: 'if (row.number < number)',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A transcript is as long as its agent lives.
  {
    package: agentSdk,
    function: 'TranscriptFile.#prune',
    replace: 'commit.at >= since && excess <= 0',
    by: 'true',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A replay gives a call the result of another.
  {
    package: agentSdk,
    function: 'KeptResults.take',
    replace: 'call === key',
    by: 'call !== undefined',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // Who asks an agent that may not reason aloud waits for ever.
  {
    package: agentSdk,
    function: 'openRun',
    replace: 'return silent(turn)',
    by: 'throw error',
    tests: ['packages/agent-sdk/test/model/capture.test.ts'],
  },
  // Each program of a participant makes the calls of the others.
  {
    package: agentSdk,
    function: 'Tools.#mayConcern',
    replace: 'session === undefined || session === welcome.you.session',
    by: 'true',
    tests: ['packages/agent-sdk/test/own-calls.test.ts'],
  },
  // The answer of a tool that only reads comes before the call, and where that is refused.
  {
    package: agentSdk,
    function: 'Tools.#answer',
    replace: 'await logged',
    by: '',
    tests: ['packages/agent-sdk/test/own-calls.test.ts'],
  },
  // What an agent says for programs is not looked at.
  {
    package: agentSdk,
    function: 'readOutput',
    replace: "'problem' in checked",
    by: 'false',
    tests: ['packages/agent-sdk/test/model/output.test.ts'],
  },
]
