import type { Mutant } from './mutant.js'

const acp = 'packages/acp'

/** Wrong edits of the ACP bridge for coding agents. The comment of each says what goes wrong. */
export const codingAgents: readonly Mutant[] = [
  // A coding agent's call is allowed without a decision if it claims to be one of the space's tools.
  {
    package: acp,
    function: 'AgentPrompt.onPermission',
    replace: 'await this.#decide(tracked, once)',
    by: "readToolUse(tracked.call) ? ({ state: 'allowed' } as Answer) : await this.#decide(tracked, once)",
    tests: ['packages/acp/test/permissions.test.ts'],
  },
  // One call of a space's tool hides all other calls of that tool from the log.
  {
    package: acp,
    function: 'SpaceToolArrivals.take',
    replace: 'each.tool === shown.tool && isDeepStrictEqual(each.arguments, shown.arguments)',
    by: 'each.tool === shown.tool',
    tests: ['packages/acp/test/permissions.test.ts'],
  },
  // If a permission request has several options that allow a call, the space is not asked for one: the first is chosen.
  {
    package: acp,
    function: 'AgentPrompt.#askSpace',
    replace: 'once.length > 1',
    by: 'once.length > 9',
    tests: ['packages/acp/test/permissions.test.ts'],
  },
  // An unreadable update ends the coding agent.
  {
    package: acp,
    function: 'onUpdate',
    replace: "onUnreadable('session/update', error)",
    by: 'throw error',
    tests: ['packages/acp/test/messages.test.ts'],
  },
  // Thoughts of an agent that wait until they are logged are not limited, so that they fill the memory.
  {
    package: acp,
    function: 'RunLog.#hasRoom',
    replace: 'this.waitingChars + chars <= maxWaitingChars && ',
    by: '',
    tests: ['packages/acp/test/flood.test.ts'],
  },
]
