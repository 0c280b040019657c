/**
 * Files and folders (with a `/` at the end) from which no text is taken, because they contain secrets or markers on purpose.
 */
const skipped: readonly string[] = [
  // Examples of secrets, of prompt markers, and of raw thinking.
  'packages/safety/',
  'packages/agent-sdk/src/extract/',
  'packages/agent-sdk/test/extract/',
  'packages/agent-sdk/test/model/',
  'packages/agent-sdk/test/transcript/',
  'packages/gateway/test/raw-thinking.test.ts',
  'docs/extract.md',
  'docs/safety.md',
  'test/mutants/safety.ts',
  'test/scenarios/safety.test.ts',
  'bench/attacks/attacks.ts',
  'bench/extract.ts',
  // Passwords in tool calls, which must not be shown.
  'packages/cli/test/live-conversation.test.ts',
  'packages/cli/test/proposal-text.test.ts',
  'packages/gateway/test/decisions.test.ts',
  'packages/gateway/test/http-turns.test.ts',
  'packages/folds/test/render.test.ts',
  'packages/folds/test/tool-calls.test.ts',
  // Passwords and tokens in the documentation of libraries.
  'node_modules/simple-get/README.md',
  '/usr/share/doc/python3-jwt/',
  '/usr/share/doc/python3-lazr.restfulclient/',
]

export const isSkipped = (path: string): boolean =>
  skipped.some((each) => (each.endsWith('/') ? path.includes(each) : path.endsWith(each)))
