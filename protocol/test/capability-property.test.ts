import { compileCapabilities, covers } from '@meup/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../test/support/soak.js'
import { capabilities, capability, matchingSubject, subject, variantOf } from './capability-arbitraries.js'
import { referenceAllows } from './capability-reference.js'

const runs = { numRuns: times(300, 1_000_000) }

test('decides as the reference matcher does', () => {
  const pairs = capabilities.chain((list) =>
    fc.tuple(fc.constant(list), fc.oneof(subject, ...list.map(matchingSubject))),
  )
  let allowed = 0
  fc.assert(
    fc.property(pairs, ([list, envelope]) => {
      const decision = compileCapabilities(list).allows(envelope)
      expect(decision.matched).toBe(referenceAllows(list, envelope))
      expect(decision.allowed).toBe(decision.matched !== undefined)
      if (decision.allowed) allowed += 1
    }),
    runs,
  )
  expect(allowed).toBeGreaterThan(runs.numRuns / 10)
  expect(allowed).toBeLessThan((runs.numRuns * 9) / 10)
})

test('covers proves only what is so', () => {
  const cases = capabilities.chain((held) =>
    fc.oneof(capability, ...held.map(variantOf), ...held.map(variantOf)).chain((asked) =>
      fc.tuple(
        fc.constant(held),
        fc.constant(asked),
        fc.array(
          fc.oneof({ weight: 1, arbitrary: subject }, { weight: 4, arbitrary: matchingSubject(asked) }),
          {
            minLength: 4,
            maxLength: 8,
          },
        ),
      ),
    ),
  )
  let proven = 0
  let witnessed = 0
  fc.assert(
    fc.property(cases, ([held, asked, envelopes]) => {
      if (!covers(held, [asked])) return
      proven += 1
      for (const envelope of envelopes) {
        if (referenceAllows([asked], envelope) === undefined) continue
        witnessed += 1
        expect(referenceAllows(held, envelope)).not.toBe(undefined)
      }
    }),
    runs,
  )
  expect(proven).toBeGreaterThan(runs.numRuns / 20)
  expect(witnessed).toBeGreaterThan(runs.numRuns / 20)
})

test('every list covers itself, and what it covers may be left out or repeated', () => {
  fc.assert(
    fc.property(capabilities, (list) => {
      expect(covers(list, list)).toBe(true)
      expect(covers([...list, 'other'], [...list, ...list])).toBe(true)
    }),
    runs,
  )
})
