import type { Mutant } from './mutant.js'

const gateway = 'packages/gateway'
const tests = ['packages/gateway/test/programs.test.ts', 'packages/gateway/test/program-histories.test.ts']

/** Wrong edits of programs and their ends. The comment of each says what goes wrong. */
export const programs: readonly Mutant[] = [
  // A program that is connected to another gateway of the same space counts as ended.
  {
    package: gateway,
    function: 'Presence.isConnected',
    replace: ' || this.elsewhere.has(participant, session)',
    by: '',
    tests,
  },
  // If one program of a participant ends, the runs of its other programs end too.
  {
    package: gateway,
    function: 'OpenWork.endOf',
    replace: 'left.session === session',
    by: 'left.session !== undefined',
    tests,
  },
  // Open calls end although another program of the participant may answer them.
  {
    package: gateway,
    function: 'OpenWork.endOf',
    replace: 'other.session !== session',
    by: 'false',
    tests,
  },
  // A replaced program reconnects, and replaces its successor.
  {
    package: gateway,
    function: 'Presence.#takesOver',
    replace: ' || programs.isReplaced(participant, session)',
    by: '',
    tests,
  },
  // A run that was begun over HTTP ends although its owner is still thinking.
  {
    package: gateway,
    function: 'OpenWork.#abandon',
    replace: 'Date.parse(left.lastAt) + abandonAfterMs - clock.now()',
    by: '0',
    tests: ['packages/gateway/test/programs.test.ts'],
  },
  // A question to two participants is given up when the program of one of them has ended.
  {
    package: 'packages/folds',
    function: 'WaitingChats.#endProgram',
    replace: 'asked.every(',
    by: 'asked.some(',
    tests: ['packages/folds/test/waiting.test.ts', 'packages/agent-sdk/test/programs.test.ts'],
  },
  // A question is given up when one of two programs of its agent ends.
  {
    package: 'packages/folds',
    function: 'WaitingChats.#onPresence',
    replace: ' && !this.#isPresent(id)',
    by: '',
    tests: ['packages/folds/test/waiting.test.ts', 'packages/agent-sdk/test/programs.test.ts'],
  },
  // A question is given up when the agent loses its connection.
  {
    package: 'packages/folds',
    function: 'WaitingChats.#onPresence',
    replace: 'if (hasEnded) ending.add(id)',
    by: 'ending.add(id)',
    tests: ['packages/folds/test/waiting.test.ts', 'packages/agent-sdk/test/programs.test.ts'],
  },
  // Runs and calls that an earlier version of the gateway left open in a log stay open forever.
  {
    package: gateway,
    function: 'isOfEarlierVersion',
    replace: 'configured !== undefined &&',
    by: 'configured === undefined &&',
    tests: ['packages/gateway/test/programs.test.ts'],
  },
]
