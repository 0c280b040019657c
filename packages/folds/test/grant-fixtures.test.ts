import { GrantLog } from '@meup/folds'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the fold of grants', {
  knows: { grants: ['grantor', 'recipient', 'capabilities'] },
  read: ({ envelopes }) => {
    const written = new GrantLog()
    for (const envelope of envelopes) written.apply(envelope)
    const grants = new GrantLog()
    grants.restore(written.snapshot())
    return { grants: Object.fromEntries(grants.list().map((grant) => [grant.id, grant])) }
  },
})
