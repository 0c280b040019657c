import type { Mutant } from './mutant.js'

const agentSdk = 'packages/agent-sdk'

export const sdk: readonly Mutant[] = [
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
    function: 'Reasoning.#onCancel',
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
    function: 'narrowCapability',
    replace: ', ...wanted',
    by: '',
    tests: ['packages/agent-sdk/test/trust.test.ts'],
  },
  // One is paused, and everybody stops.
  {
    package: agentSdk,
    function: 'Pauses.onEnvelope',
    replace: 'if (!envelope.to?.includes(this.#client.id)) return',
    by: '',
    tests: ['packages/agent-sdk/test/pause.test.ts'],
  },
  // What was said in private is recalled in an answer to everybody.
  {
    package: agentSdk,
    function: 'mayRecall',
    replace: 'to !== undefined && [source.from',
    by: '[source.from',
    tests: ['packages/agent-sdk/test/model/memory.test.ts'],
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
]
