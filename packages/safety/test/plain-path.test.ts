import { EnvelopeGuard, type Utterance } from '@meup/protocol'
import { compileSafety, defaultSafety, type SafetySettings, type Tail, tailOf } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { sanitize } from '../src/injection.js'
import { createDetectors } from '../src/leak/detectors.js'
import { compileLeakDetector } from '../src/leak/leak.js'
import { compileProseCheck, isProse, joinsProse } from '../src/leak/prose.js'
import { compilePolicy } from '../src/safety.js'
import { noTail } from '../src/tail.js'
import { withoutThinking } from '../src/thinking.js'
import { benignCases } from './corpus/benign/index.js'
import { Random } from './corpus/random.js'
import { randomTexts } from './random-texts.js'
import { ownRules } from './support.js'

const { MEUP_SEED: seed = '20261121' } = process.env

const free = { charge() {} }
const isKnownSecret = (candidate: string): boolean => candidate.length % 7 === 0
const everySettings: Record<string, Partial<SafetySettings>> = {
  'as they are': {},
  'with rules': { rules: ownRules },
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
  'that withhold': { onLeak: 'block' },
}

/** Compiles the shortcut for prose, and the stages that it skips, to compare them. */
function compile(part: Partial<SafetySettings>) {
  const settings = { ...defaultSafety, ...part }
  const detect = compileLeakDetector(createDetectors(settings, isKnownSecret))
  const judge = compilePolicy(settings.policy)
  const findsInProse = compileProseCheck(
    settings,
    (text) => judge(text).findings.length > 0 || judge(text).isTrusted,
  )
  return {
    isPlain: (text: string, tail: Tail): boolean =>
      isProse(text) &&
      tail.isProse &&
      joinsProse(tail.said, tail.seams, text) &&
      !findsInProse(tail.said, text),
    pass(text: string, tail: Tail) {
      const masked = detect(withoutThinking(text, tail.said), tail, free)
      return { text: sanitize(masked.text), findings: [...masked.findings, ...judge(masked.text).findings] }
    },
  }
}

describe('texts that take the short way are left as they are by every stage', () => {
  test.for(Object.entries(everySettings))('with settings %s', ([name, settings]) => {
    const { isPlain, pass } = compile(settings)
    const { guard } = compileSafety({ ...defaultSafety, ...settings }, { isKnownSecret })
    const benign = benignCases({ seed, count: times(60, 2000), system: false }).map(({ text }) => text)
    const isUsual = name === 'as they are'
    let left = times(isUsual ? 3000 : 400, isUsual ? 10_000_000 : 400_000)
    let plain = 0
    for (let run = 0; left > 0; run++) {
      const random = new Random(`${seed} ${name} ${run}`)
      const texts = random.chance(0.2) ? [random.pick(benign), random.pick(benign)] : randomTexts(random)
      let tail: Tail = noTail
      for (const text of texts) {
        left--
        if (isPlain(text, tail)) {
          plain++
          const expected = { text, findings: [] }
          if (JSON.stringify(pass(text, tail)) !== JSON.stringify(expected))
            expect.fail(JSON.stringify({ texts, tail, text, passed: pass(text, tail) }, undefined, 2))
          expect(guard(text, tail)).toMatchObject(expected)
        }
        tail = tailOf(tail, text)
      }
    }
    expect(plain).toBeGreaterThan(0)
  })

  test('in envelopes of two senders as in one text', () => {
    const parts = { compile: compileSafety, tailOf }
    const whole = new EnvelopeGuard(parts, defaultSafety)
    // A rule without keywords disables the shortcut for prose, because it has to be tried on every text.
    const rules: SafetySettings['rules'] = [{ name: 'own-never', pattern: 'zqzq zqzq', action: 'mask' }]
    const slow = new EnvelopeGuard(parts, { ...defaultSafety, rules })
    let left = times(120, 600_000)
    for (let run = 0; left > 0; run++) {
      const random = new Random(`${seed} envelopes ${run}`)
      for (const text of randomTexts(random)) {
        const envelope = randomEnvelope(text, `run${run}`, random)
        const bytes = Buffer.from(JSON.stringify(envelope.payload))
        const [fast, full] = [whole, slow].map((guard) => JSON.stringify(guard.guard(envelope, bytes)))
        if (fast !== full) expect.fail(JSON.stringify({ run, envelope, fast, full }, undefined, 2))
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
