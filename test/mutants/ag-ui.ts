import type { Mutant } from './mutant.js'

const bridge = 'packages/ag-ui'

/** Wrong edits of the AG-UI bridge. The comment of each says what goes wrong. */
export const agUi: readonly Mutant[] = [
  // A proposal that is too long for an interrupt can be approved unseen.
  {
    package: bridge,
    function: 'checkAnswer',
    replace: 'exactText(readCall(proposal), maxExactChars).isWhole',
    by: 'exactText(readCall(proposal)).isWhole',
    tests: ['packages/ag-ui/test/approvals.test.ts'],
  },
  // A missing right to approve is only noticed after other proposals of the same request were approved.
  {
    package: bridge,
    function: 'checkAnswer',
    replace: '!decider.mayApprove(parse(proposal))',
    by: 'false',
    tests: ['packages/ag-ui/test/approvals.test.ts'],
  },
  // A client that shows only the message of an interrupt shows the reason without the call.
  {
    package: bridge,
    function: 'interruptFor',
    replace: 'shown,',
    by: '',
    tests: ['packages/ag-ui/test/approvals.test.ts'],
  },
]
