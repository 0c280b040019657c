import type { Mutant } from './mutant.js'

const agentSdk = 'packages/agent-sdk'

/** Wrong edits of the agent SDK. The comment of each says what goes wrong. */
export const sdk: readonly Mutant[] = [
  // A warning is logged for a client from which no reasoning can be extracted [T09].
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
  // A proposal that one participant has rejected is not offered to the others.
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
  // Pings and parts of a large frame do not count as signs of life, so that the connection is closed every 50 seconds.
  {
    package: agentSdk,
    function: 'watchSilence',
    replace: 'heard !== count || now < heardAt',
    by: 'now < heardAt',
    tests: ['packages/agent-sdk/test/silence.test.ts'],
  },
  // Envelopes of a closed connection are delivered along with those of the next one.
  {
    package: agentSdk,
    function: 'ClientConnection.#endLine',
    replace: 'this.#line = undefined',
    by: '',
    tests: ['packages/agent-sdk/test/silence.test.ts'],
  },
  // A call to a participant that has left waits until it times out.
  {
    package: agentSdk,
    function: 'Attendance.watch',
    replace: '!isAway && !isRestarted',
    by: '!isRestarted',
    tests: ['packages/agent-sdk/test/away.test.ts'],
  },
  // Questions that came before the handler was set are lost.
  {
    package: agentSdk,
    function: 'Arrivals.#passKept',
    replace: 'for (const { chat } of kept) this.#pass(chat)',
    by: '',
    tests: ['packages/agent-sdk/test/arrivals.test.ts'],
  },
  // A question that was answered earlier is answered again when the log is replayed.
  {
    package: agentSdk,
    function: 'Arrivals.#onMessage',
    replace: 'this.#isTaken && !this.#replay.isReplaying',
    by: 'this.#isTaken',
    tests: ['packages/agent-sdk/test/replayed-questions.test.ts'],
  },
  // Thoughts about a private question are readable by everyone.
  {
    package: agentSdk,
    function: 'ReasoningContext.#send',
    replace: '...this.#audience, ',
    by: '',
    tests: ['packages/agent-sdk/test/private-runs.test.ts'],
  },
  // The client ignores `Retry-After`, and reconnects at once.
  {
    package: agentSdk,
    function: 'ClientConnection.#retry',
    replace: 'Math.max(backoffMs, getRetryAfterMs(error) ?? 0)',
    by: 'backoffMs',
    tests: ['test/conformance/client-kit.test.ts'],
  },
  // The JSON-RPC id 1.0 is returned as 1.
  {
    package: agentSdk,
    function: 'createResponse',
    replace: "copyNumberTexts({ jsonrpc: '2.0', id: payload.id ?? id, ...outcome }, payload)",
    by: "{ jsonrpc: '2.0', id: payload.id ?? id, ...outcome }",
    tests: ['test/conformance/client-kit.test.ts'],
  },
  // After the log was replaced, nothing is delivered until it is as long as the old one.
  {
    package: agentSdk,
    function: 'ClientConnection.#onWelcome',
    replace: "if (welcome.resume.status === 'lost') this.#lastSeq = 0",
    by: '',
    tests: ['packages/agent-sdk/test/link.test.ts'],
  },
  // A participant can retract a question of another participant.
  {
    package: agentSdk,
    function: 'Turns.#onCancel',
    replace: ' && turn.from === cancel.from',
    by: '',
    tests: ['packages/agent-sdk/test/turns.test.ts'],
  },
  // Interrupting one run of an agent interrupts all its runs.
  {
    package: agentSdk,
    function: 'ReasoningContext.#onCancel',
    replace: ' || envelope.context !== this.context',
    by: '',
    tests: ['packages/agent-sdk/test/reasoning.test.ts'],
  },
  // A call that was aborted before it was sent is sent nevertheless.
  {
    package: agentSdk,
    function: 'OwnRequests.make',
    replace: 'signal?.aborted',
    by: 'false',
    tests: ['packages/agent-sdk/test/request.test.ts'],
  },
  // A tool runs although its call was cancelled while the arguments were validated.
  {
    package: agentSdk,
    function: 'Tools.#run',
    replace: 'signal.throwIfAborted()',
    by: '',
    tests: ['packages/agent-sdk/test/request.test.ts'],
  },
  // `allowAlways` for a proposed call allows every tool of its addressee.
  {
    package: agentSdk,
    function: 'getAlwaysCapability',
    replace: ', ...wanted',
    by: '',
    tests: ['packages/agent-sdk/test/trust.test.ts'],
  },
  // In a prompt, a further line of one participant can look like a message of another.
  {
    package: agentSdk,
    function: 'quoteForPrompt',
    replace: ".replaceAll('\\n', '\\n> ')",
    by: '',
    tests: ['packages/agent-sdk/test/model/framing.test.ts'],
  },
  // In a prompt, a tool result can look like a remark of the agent itself.
  {
    package: agentSdk,
    function: 'frameResult',
    replace: 'isLikeOurs(line)',
    by: 'false',
    tests: ['packages/agent-sdk/test/model/framing.test.ts'],
  },
  // If no tools were chosen, the model gets tools of all participants.
  {
    package: agentSdk,
    function: 'compileChoices',
    replace: ' && isDefault(participant)',
    by: '',
    tests: ['packages/agent-sdk/test/model/strangers.test.ts'],
  },
  // A participant that never answers is asked for its tools every ten seconds.
  {
    package: agentSdk,
    function: 'backOff',
    replace: ' * 2 ** Math.min(known.silences, 30)',
    by: '',
    tests: ['packages/agent-sdk/test/answers.test.ts'],
  },
  // `allowAlways` for a call without a tool name allows every tool.
  {
    package: agentSdk,
    function: 'getAlwaysCapability',
    replace: "typeof named === 'string' && named !== ''",
    by: 'true',
    tests: ['packages/agent-sdk/test/trust.test.ts'],
  },
  // When another participant is resumed, a client that was refused as paused counts itself as resumed.
  {
    package: agentSdk,
    function: 'OwnPause.onEnvelope',
    replace: ' && to?.includes(this.#client.id)',
    by: '',
    tests: ['packages/agent-sdk/test/pause.test.ts'],
  },
  // Private messages are part of the prompt for a public answer.
  {
    package: agentSdk,
    function: 'ConversationLog.before',
    replace: 'audience?.every((id) => from === id || to.includes(id)) === true',
    by: 'audience?.every((id) => from === id || to.includes(id)) !== false',
    tests: ['packages/agent-sdk/test/model/memory.test.ts'],
  },
  // Thoughts are shown in a call that the model only mentioned.
  {
    package: agentSdk,
    function: 'TagReader.#readInCall',
    replace: 'if (!this.#parts.looksCalled) this.#parts.textWasThought()',
    by: '',
    tests: ['packages/agent-sdk/test/extract/tags.test.ts', 'packages/agent-sdk/test/model/habits.test.ts'],
  },
  // Raw thinking whose opening tag is in the model's template is shown while it is streamed.
  {
    package: agentSdk,
    function: 'Liveness.constructor',
    replace: 'live ?? baseURL === undefined',
    by: 'live ?? true',
    tests: ['packages/agent-sdk/test/model/unseen-thoughts.test.ts'],
  },
  // An answer with an example of a tool call makes the call.
  {
    package: agentSdk,
    function: 'findWritten',
    replace: 'isAtEnd ?',
    by: 'true ?',
    tests: ['packages/agent-sdk/test/model/habits.test.ts'],
  },
  // An ambiguous tool name is resolved to the first match.
  {
    package: agentSdk,
    function: 'findAlike',
    replace: 'alike.length === 1',
    by: 'alike.length > 0',
    tests: ['packages/agent-sdk/test/model/habits.test.ts'],
  },
  // A long number in a model's arguments is rounded before it reaches the tool.
  {
    package: agentSdk,
    function: 'splitRationale',
    replace: 'copyNumberTexts(args, input)',
    by: 'args',
    tests: ['packages/agent-sdk/test/model/exact-numbers.test.ts'],
  },
  // Signed thoughts are lost, so that the provider refuses the next request.
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
  // A transcript whose end was cut off is verified as complete.
  {
    package: agentSdk,
    function: 'verifyCommits',
    replace:
      "if (head !== undefined && head !== parent) return { ok: false, at: commits.length, problem: 'head' }",
    by: '',
    tests: ['packages/agent-sdk/test/transcript/chain.test.ts'],
  },
  // If a prompt is too long, messages are dropped before results of tools.
  {
    package: agentSdk,
    function: 'leastFirst',
    replace: 'a.compression_priority - b.compression_priority',
    by: 'b.compression_priority - a.compression_priority',
    tests: ['packages/agent-sdk/test/transcript/compile.test.ts'],
  },
  // The transcript keeps complete prompts in every mode.
  {
    package: agentSdk,
    function: 'TurnRecorder.#toPrompt',
    replace: "const isFull = mode === 'full'",
    by: 'const isFull = true',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // The transcript keeps secrets in a tool's result.
  {
    package: agentSdk,
    function: 'TurnRecorder.results',
    replace: 'this.#options.mask.text(text)',
    by: 'text',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A removed commit of a transcript is not noticed.
  {
    package: agentSdk,
    function: 'findProblem',
    replace: 'if (row.number !== number)',
    by: 'if (row.number < number)',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A transcript is never pruned.
  {
    package: agentSdk,
    function: 'TranscriptFile.#prune',
    replace: 'commit.at >= since && excess <= 0',
    by: 'true',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A replay gives a call the result of another call.
  {
    package: agentSdk,
    function: 'KeptResults.take',
    replace: 'call === key',
    by: 'call !== undefined',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // An agent without the right to reason does not answer, so that askers wait forever.
  {
    package: agentSdk,
    function: 'openThinkingRun',
    replace: 'return silent(turn)',
    by: 'throw error',
    tests: ['packages/agent-sdk/test/model/capture.test.ts'],
  },
  // Every program of a participant executes calls to its other programs.
  {
    package: agentSdk,
    function: 'Tools.#mayConcern',
    replace: 'session === undefined || session === welcome.you.session',
    by: 'true',
    tests: ['packages/agent-sdk/test/own-calls.test.ts'],
  },
  // The response of a read-only tool may precede its call in the log, even if the call is refused.
  {
    package: agentSdk,
    function: 'Tools.#answer',
    replace: 'await logged',
    by: '',
    tests: ['packages/agent-sdk/test/own-calls.test.ts'],
  },
  // The structured output of an agent is not validated.
  {
    package: agentSdk,
    function: 'createOutputSchema',
    replace: "'problem' in checked",
    by: 'false',
    tests: ['packages/agent-sdk/test/model/output.test.ts'],
  },
]
