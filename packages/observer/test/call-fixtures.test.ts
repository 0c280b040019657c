import { SpaceModel } from '@meup/observer/model'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the page', {
  knows: { calls: ['from', 'rejectedBy', 'usesLeft', 'programEnded'] },
  // Skips what the page does not keep: all calls but open proposals (`p…`) and open elicitations (`x…`).
  forgets: (id, fact) => !/^[px]/.test(id) || (fact as { state: string }).state !== 'open',
  read: ({ welcome, envelopes, now }) => {
    const model = new SpaceModel()
    if (welcome !== undefined) model.onWelcome(welcome, now)
    model.append(envelopes, now)
    const proposals = model.pending(now).map(({ source, rejections, ...view }) => ({
      ...{ ...view, from: source.from },
      rejectedBy: [...new Set(rejections.map(({ by }) => by))],
    }))
    const facts = [...proposals, ...model.elicitations('ana')]
    return { calls: Object.fromEntries(facts.map((fact) => [fact.id, fact])) }
  },
})
