import type { Mutant } from './mutant.js'

const bridge = 'packages/ag-ui'

export const agUi: readonly Mutant[] = [
  // A proposal that no interrupt shows in full can be approved.
  {
    package: bridge,
    function: 'checkAnswer',
    replace: 'exactText(readCall(proposal), maxExactChars).isWhole',
    by: 'exactText(readCall(proposal)).isWhole',
    tests: ['packages/ag-ui/test/approvals.test.ts'],
  },
  // A missing right to approve is only noticed after a question was sent and other proposals were approved.
  {
    package: bridge,
    function: 'checkAnswer',
    replace: '!decider.mayApprove(parse(proposal))',
    by: 'false',
    tests: ['packages/ag-ui/test/approvals.test.ts'],
  },
  // A client that shows the message of an interrupt shows only the reason.
  {
    package: bridge,
    function: 'interruptFor',
    replace: 'shown,',
    by: '',
    tests: ['packages/ag-ui/test/approvals.test.ts'],
  },
]
