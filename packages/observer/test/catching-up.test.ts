import { everything, SpaceModel } from '@meup/observer/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { gists, Script } from './support.js'

const never = (): boolean => false

/** More envelopes than one catch-up step processes. */
const length = 2500

function long(): { script: Script; model: SpaceModel } {
  const script = new Script()
  for (let count = 0; count < length; count++)
    script.chat(count % 2 === 0 ? 'ana' : 'bot', `message ${count}`)
  const model = script.read()
  void model.lists.stream.slots
  return { script, model }
}

describe('what is chosen in a long log', () => {
  test('shows as soon as all of it is made, and what was before until then', () => {
    const { script, model } = long()
    const before = gists(model)
    model.filter({ ...everything, from: ['ana'] })
    expect(model.isBehind).toBe(true)
    for (let step = 0; step < 5; step++) {
      expect(model.catchUp(() => true)).toBe(false)
      expect(gists(model)).toEqual(before)
    }
    const { envelopes } = script
    script.chat('bot', 'not for ana')
    script.chat('ana', 'still coming')
    model.append(envelopes.slice(length), 0)
    expect(gists(model)).toEqual([...before, 'ana: still coming'])
    expect(model.catchUp(never)).toBe(true)
    expect(model.isBehind).toBe(false)
    expect(gists(model)).toEqual([...before.filter((line) => line.startsWith('ana')), 'ana: still coming'])
    expect(model.logFilter.dropped).toBe(length / 2 + 1)
  })

  test('is made a little at a time', () => {
    const { model } = long()
    model.mute('bot', true)
    let looks = 0
    while (!model.catchUp(() => true)) looks++
    expect(looks).toBeGreaterThan(100)
  })

  test('is the same in the end, whatever comes in between', () => {
    const act = fc.constantFrom('filter', 'widen', 'mute', 'fold', 'say', 'think', 'work', 'look', 'merge')
    fc.assert(
      fc.property(fc.array(act, { maxLength: 15 }), (acts) => {
        const script = new Script()
        const earlier = Array.from({ length: 10 }, (_, count) => script.chat('eve', `earlier ${count}`))
        const run = script.start('bot', 'Looking')
        for (let count = 0; count < length; count++) script.chat('ana', `message ${count}`)
        const model = new SpaceModel()
        let taken = earlier.length
        const take = (): void => {
          model.append(script.envelopes.slice(taken), 0)
          taken = script.envelopes.length
        }
        const merging = model.mergeInSteps(earlier, 500)
        const does: Record<
          typeof act extends fc.Arbitrary<infer Name extends string> ? Name : never,
          () => unknown
        > = {
          filter: () => model.filter({ ...model.viewFilter.filter, from: ['bot'] }),
          widen: () => model.filter(everything),
          mute: () => model.mute('bot', !model.viewFilter.muted.has('bot')),
          fold: () => model.cycle(run.id),
          say: () => script.chat('bot', 'news'),
          think: () => script.thought('bot', run.id, 'hm'),
          work: () => {
            let left = 50
            model.catchUp(() => left-- === 0)
          },
          look: () => model.lists.stream.slots,
          merge: () => merging.next(),
        }
        take()
        void model.lists.stream.slots
        for (const each of acts) {
          does[each]()
          take()
        }
        for (const _ of merging);
        while (!model.catchUp(never));
        const fresh = new SpaceModel(undefined, model)
        fresh.append(script.envelopes, 0)
        fresh.lists.clear()
        expect(gists(model)).toEqual(gists(fresh))
      }),
      { numRuns: times(2, 100) },
    )
  })
})
