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
  // A proposal that one participant has rejected is offered to no one.
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
  // Envelopes of a dead line are shown along with those of its successor.
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
  // Questions from before the handler was set are lost.
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
  // Thoughts about a private question are readable by everyone.
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
    function: 'ClientConnection.#retry',
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
  // After a change of the log, nothing is delivered until it is as long as the old one.
  {
    package: agentSdk,
    function: 'ClientConnection.#onWelcome',
    replace: "if (welcome.resume.status === 'lost') this.#lastSeq = 0",
    by: '',
    tests: ['packages/agent-sdk/test/link.test.ts'],
  },
  // Any participant can retract another one's question.
  {
    package: agentSdk,
    function: 'Turns.#onCancel',
    replace: ' && turn.from === cancel.from',
    by: '',
    tests: ['packages/agent-sdk/test/turns.test.ts'],
  },
  // Interrupting one run interrupts all.
  {
    package: agentSdk,
    function: 'ReasoningContext.#onCancel',
    replace: ' || envelope.context !== this.context',
    by: '',
    tests: ['packages/agent-sdk/test/reasoning.test.ts'],
  },
  // A call that was given up before it was made is made nevertheless.
  {
    package: agentSdk,
    function: 'OwnRequests.make',
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
  // Always allowing a proposed call allows every tool of its target.
  {
    package: agentSdk,
    function: 'getAlwaysCapability',
    replace: ', ...wanted',
    by: '',
    tests: ['packages/agent-sdk/test/trust.test.ts'],
  },
  // A line of one speaker is mistaken for another one's.
  {
    package: agentSdk,
    function: 'quoteForPrompt',
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
  // Tools of any participant reach a model if none were chosen.
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
  // Resuming one participant resumes all.
  {
    package: agentSdk,
    function: 'OwnPause.onEnvelope',
    replace: ' && to?.includes(this.#client.id)',
    by: '',
    tests: ['packages/agent-sdk/test/pause.test.ts'],
  },
  // Private messages are recalled in an answer to everyone.
  {
    package: agentSdk,
    function: 'ConversationLog.before',
    replace: 'audience?.every((id) => from === id || to.includes(id)) === true',
    by: 'audience?.every((id) => from === id || to.includes(id)) !== false',
    tests: ['packages/agent-sdk/test/model/memory.test.ts'],
  },
  // Thoughts in a call that a model only mentioned are shown.
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
  // When a prompt is too long, messages are dropped before results of tools.
  {
    package: agentSdk,
    function: 'leastFirst',
    replace: 'a.compression_priority - b.compression_priority',
    by: 'b.compression_priority - a.compression_priority',
    tests: ['packages/agent-sdk/test/transcript/compile.test.ts'],
  },
  // Prompts are kept without being asked for.
  {
    package: agentSdk,
    function: 'TurnRecorder.#toPrompt',
    replace: "const isFull = mode === 'full'",
    by: 'const isFull = true',
    tests: ['packages/agent-sdk/test/model/transcript.test.ts'],
  },
  // A tool's result is kept with its secrets.
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
  // Askers of an agent without the right to reason wait forever.
  {
    package: agentSdk,
    function: 'openThinkingRun',
    replace: 'return silent(turn)',
    by: 'throw error',
    tests: ['packages/agent-sdk/test/model/capture.test.ts'],
  },
  // Every program of a participant makes the calls of the others.
  {
    package: agentSdk,
    function: 'Tools.#mayConcern',
    replace: 'session === undefined || session === welcome.you.session',
    by: 'true',
    tests: ['packages/agent-sdk/test/own-calls.test.ts'],
  },
  // The answer of a read-only tool arrives before its call, and even if that is refused.
  {
    package: agentSdk,
    function: 'Tools.#answer',
    replace: 'await logged',
    by: '',
    tests: ['packages/agent-sdk/test/own-calls.test.ts'],
  },
  // An agent's data for programs is not checked.
  {
    package: agentSdk,
    function: 'readOutput',
    replace: "'problem' in checked",
    by: 'false',
    tests: ['packages/agent-sdk/test/model/output.test.ts'],
  },
]
