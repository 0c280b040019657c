import { EnvelopeGuard, type Utterance } from '@meup/protocol'
import { compileSafety, defaultSafety, type SafetySettings, tailOf } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { benignCases } from './corpus/benign/index.js'
import { Random } from './corpus/random.js'
import { secretCases } from './corpus/secrets.js'
import * as old from './old/gate.mjs'
import { randomTexts } from './old/random-texts.js'
import { ownRules } from './support.js'

const { MEUP_SEED: seed = '20261121' } = process.env

const isKnownSecret = (candidate: string): boolean => candidate.length % 7 === 0
const everySettings: Record<string, Partial<SafetySettings>> = {
  'as they are': {},
  'with rules': { rules: ownRules },
  'with a rule that is tried everywhere': {
    rules: [{ name: 'own-number', pattern: '\\b\\d{3} (?:test|rows)', action: 'mask' }],
  },
  'with a rule for words': {
    rules: [{ name: 'own-words', pattern: '(?i)code\\s+\\w+', keywords: ['code'], action: 'mask' }],
  },
  'with a policy': {
    policy: [
      { name: 'own-allow', pattern: '^fix', action: 'allow' },
      { name: 'own-review', pattern: '(?i)\\bdeploy', action: 'review' },
      { name: 'own-withhold', pattern: 'AKIA', action: 'block' },
    ],
  },
  'with short texts': { maxLength: 40 },
  'that withhold': { onLeak: 'block' },
}

/** Guards texts of a run with both gates; gives the first one that they differ in. */
function compile(settings: SafetySettings) {
  const [one, other] = [
    old.compileSafety(settings, { isKnownSecret }),
    compileSafety(settings, { isKnownSecret }),
  ]
  return (texts: readonly string[]): unknown => {
    let before = ''
    let tail: ReturnType<typeof tailOf> | undefined
    for (const text of texts) {
      const [was, is] = [JSON.stringify(one.guard(text, before)), JSON.stringify(other.guard(text, tail))]
      if (was !== is) return { texts, text, was, is }
      before = old.tailOf(before, text)
      tail = tailOf(tail ?? '', text)
    }
    return undefined
  }
}

describe('the gate finds what it did before texts of prose took a way of their own', () => {
  test('in the texts of the corpus, also behind each other', () => {
    const differs = compile(defaultSafety)
    const secrets = secretCases('old', 1)
      .filter((_, index) => index % times(8, 1) === 0)
      .map(({ text }) => text)
    const benign = benignCases({ seed: 'old', count: times(150, 5000), system: false }).map(
      ({ text }) => text,
    )
    const random = new Random(seed)
    const mixed = Array.from({ length: secrets.length }, () => [
      ...[random.pick(benign), random.pick(secrets), random.pick(benign)],
    ])
    for (const text of [...secrets, ...benign]) expect(differs([text])).toBeUndefined()
    for (const texts of mixed) expect(differs(texts)).toBeUndefined()
  })

  test.for(Object.entries(everySettings))('in random texts, with settings %s', ([name, settings]) => {
    const differs = compile({ ...defaultSafety, ...settings })
    const isUsual = name === 'as they are'
    let left = times(isUsual ? 1500 : 200, isUsual ? 7_000_000 : 400_000)
    for (let run = 0; left > 0; run++) {
      const texts = randomTexts(new Random(`${seed} ${name} ${run}`))
      const difference = differs(texts)
      if (difference !== undefined) expect.fail(JSON.stringify(difference, undefined, 2))
      left -= texts.length
    }
  })

  test('in random envelopes of two senders', () => {
    const before = new old.EnvelopeGuard({ compile: old.compileSafety, tailOf: old.tailOf }, defaultSafety)
    const after = new EnvelopeGuard({ compile: compileSafety, tailOf }, defaultSafety)
    let left = times(250, 600_000)
    for (let run = 0; left > 0; run++) {
      const random = new Random(`${seed} envelopes ${run}`)
      for (const text of randomTexts(random)) {
        const envelope = randomEnvelope(text, `run${run}`, random)
        const bytes = Buffer.from(JSON.stringify(envelope.payload))
        const [was, is] = [before, after].map((guard) => JSON.stringify(guard.guard(envelope, bytes)))
        if (was !== is) expect.fail(JSON.stringify({ run, envelope, was, is }, undefined, 2))
        left--
      }
    }
  })
})

function randomEnvelope(message: string, context: string, random: Random): Utterance {
  const metadata = {
    note: random.pick(randomTexts(random)) ?? '',
    [random.pick(['password', '7', 'model', 'api_key'])]: random.pick(randomTexts(random)) ?? '',
    list: ['one', message.slice(0, 20)],
  }
  const isThought = random.chance(0.9)
  return {
    id: `e${random.integer(0, 1e9)}`,
    from: random.pick(['ana', 'ben']),
    kind: isThought ? 'reasoning.thought' : 'chat',
    context,
    ...(random.chance(0.2) && { rationale: random.pick(randomTexts(random)) ?? '' }),
    payload: { ...(isThought ? { message } : { text: message }), ...(random.chance(0.2) && { metadata }) },
  }
}
