import type { Mutant } from './mutant.js'

const acp = 'packages/acp'

export const codingAgents: readonly Mutant[] = [
  // A call that says it is one of the space's tools is allowed.
  {
    package: acp,
    function: 'AgentPrompt.onPermission',
    replace: 'await this.#decide(tracked, once)',
    by: "readToolUse(tracked.call) ? ({ state: 'allowed' } as Answer) : await this.#decide(tracked, once)",
    tests: ['packages/acp/test/permissions.test.ts'],
  },
  // A call of a tool of the space hides every other call of that tool from the log.
  {
    package: acp,
    function: 'SpaceToolArrivals.take',
    replace: 'each.tool === shown.tool && isDeepStrictEqual(each.arguments, shown.arguments)',
    by: 'each.tool === shown.tool',
    tests: ['packages/acp/test/permissions.test.ts'],
  },
  // The first of several choices is taken for what was allowed.
  {
    package: acp,
    function: 'AgentPrompt.#askSpace',
    replace: 'once.length > 1',
    by: 'once.length > 9',
    tests: ['packages/acp/test/permissions.test.ts'],
  },
  // An update that cannot be read ends the agent.
  {
    package: acp,
    function: 'onUpdate',
    replace: "onUnreadable('session/update', error)",
    by: 'throw error',
    tests: ['packages/acp/test/messages.test.ts'],
  },
  // Thoughts of an agent wait for the log without a bound.
  {
    package: acp,
    function: 'RunLog.#hasRoom',
    replace: 'this.waitingChars + chars <= maxWaitingChars && ',
    by: '',
    tests: ['packages/acp/test/flood.test.ts'],
  },
]
