import { SpaceModel } from '@meup/observer/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gists, Script, welcome } from './support.js'

/** Five rounds of questions, runs, calls and proposals. */
function story(): Script {
  const script = new Script()
  for (let round = 0; round < 5; round++) {
    const question = script.chat('ana', `question ${round}`)
    const run = script.start('bot', 'Looking', { correlationId: question.id })
    const other = script.start('eve', 'Me too')
    script.thought('bot', run.id, `thought ${round}`)
    script.thought('eve', other.id, `aside ${round}`)
    const request = script.call('bot', run.id, 'lint')
    script.propose('bot', run.id, 'release')
    script.answer(request, 'fine')
    script.conclude('bot', run.id, `concluded ${round}`)
    script.chat('bot', `answer ${round}`, { correlationId: question.id })
  }
  return script
}

describe('the same log', () => {
  test('shows the same, in whatever pieces it comes', () => {
    const { envelopes } = story()
    const whole = gists(story().read())
    const pieces = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(pieces, (sizes) => {
        const model = new SpaceModel()
        let at = 0
        for (const size of [...sizes, envelopes.length]) {
          model.append(envelopes.slice(at, at + size), 0)
          expect(model.lists.stream.rows.length).toBeGreaterThanOrEqual(0)
          at += size
        }
        expect(gists(model)).toEqual(whole)
      }),
    )
  })

  test('shows the same when its beginning, or a part of it, is loaded later', () => {
    const { envelopes } = story()
    const folded = (model: SpaceModel): string[] => {
      model.chooseAll('all')
      return gists(model)
    }
    const whole = folded(story().read())
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 49 }), fc.integer({ min: 0, max: 49 }), (one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)]
        const model = new SpaceModel()
        model.append([...envelopes.slice(0, from), ...envelopes.slice(to)], 0)
        void model.lists.stream.rows
        model.merge(envelopes.slice(from, to))
        expect(folded(model)).toEqual(whole)
      }),
    )
  })

  test('twice is once', () => {
    const { envelopes } = story()
    const model = story().read()
    model.append(envelopes, 0)
    model.merge(envelopes)
    expect(gists(model)).toEqual(gists(story().read()))
  })

  test('shows nothing of what was erased, also where it comes once more', () => {
    const script = new Script()
    const secret = script.chat('ana', 'swordfish')
    script.chat('bot', 'hello')
    const payload = { event: 'erased', seq: secret.seq, id: secret.id, by: 'eve', reason: 'a password' }
    script.say({ from: 'system:gateway', kind: 'system.space', payload })
    const model = script.read()
    model.merge([])
    expect(model.log.envelopes.map(({ seq }) => seq)).toEqual([2, 3])
    model.merge([secret])
    expect(model.log.get(secret.id)).toBeUndefined()
    expect(gists(model).join()).not.toContain('swordfish')
    expect(gists(model).join()).toContain('a password')
  })
})

describe('the reader', () => {
  test('who looks back has nothing opened or closed before them', () => {
    const script = new Script()
    const open = script.start('bot', 'Looking')
    const model = script.read()
    model.follow(false)
    script.conclude('bot', open.id, 'done')
    const later = script.start('bot', 'Again')
    model.append(script.envelopes.slice(1), 0)
    expect(model.getLevel(open.id)).toBe('some')
    expect(model.getLevel(later.id)).toBe('closed')
    model.follow(true)
    expect(model.getLevel(open.id)).toBe('closed')
  })

  test('has the last word about what is open', () => {
    const script = new Script()
    const run = script.start('bot', 'Looking')
    const model = script.read()
    model.choose(run.id, 'closed')
    script.thought('bot', run.id, 'hm')
    model.append(script.envelopes.slice(1), 0)
    expect(model.getLevel(run.id)).toBe('closed')
    model.choose(run.id, 'all')
    script.conclude('bot', run.id, 'done')
    model.append(script.envelopes.slice(2), 0)
    expect(model.getLevel(run.id)).toBe('all')
  })

  test('is told how much is new since they left the live end', () => {
    const script = new Script()
    script.chat('ana', 'one')
    const model = script.read()
    model.follow(false)
    for (const message of ['two', 'three']) script.chat('ana', message)
    model.append(script.envelopes, 0)
    expect(model.unseen).toBe(2)
    model.follow(true)
    expect(model.unseen).toBe(0)
  })

  test('is not told that what they came to is new, though it takes a while to come', () => {
    const script = new Script()
    for (const message of ['one', 'two', 'three']) script.chat('ana', message)
    const model = new SpaceModel()
    model.onWelcome(welcome(['ana'], 3), 0)
    model.append(script.envelopes.slice(0, 1), 0)
    model.follow(false)
    model.append(script.envelopes.slice(1), 0)
    expect(model.unseen).toBe(0)
    script.chat('ana', 'four')
    model.append(script.envelopes.slice(3), 0)
    expect(model.unseen).toBe(1)
  })

  test('is told what is new alone, though it comes together with what they came to, and before that nothing', () => {
    const script = new Script()
    for (const message of ['one', 'two', 'three', 'four']) script.chat('ana', message)
    const model = new SpaceModel()
    model.onWelcome(welcome(['ana'], 3), 0)
    model.follow(false)
    model.append(script.envelopes, 0)
    expect(model.unseen).toBe(1)
  })
})

describe('people', () => {
  test('are those whom the gateway names, with what they are at', () => {
    const script = new Script()
    const { id, ts } = script.start('bot', 'Looking')
    const over = script.start('eve', 'Me too')
    script.conclude('eve', over.id, 'done')
    const model = new SpaceModel()
    const going = { context: id, owner: 'bot', state: 'open', reasoningVisible: true, startedAt: ts } as const
    model.onWelcome({ ...welcome(['eve', 'bot', 'ana'], 3), contexts: [going] }, 0)
    model.append(script.envelopes, 0)
    script.presence('leave', 'ana')
    model.append(script.envelopes, 0)
    model.mute('eve', true)
    expect(model.people).toMatchObject([
      { id: 'bot', isPresent: true, load: 1, isMuted: false },
      { id: 'eve', isPresent: true, load: 0, isMuted: true },
      { id: 'ana', isPresent: false, load: 0, isMuted: false },
    ])
  })
})

describe('what is live', () => {
  test('counts for the rate and for announcements, what is replayed does not', () => {
    const script = story()
    const model = new SpaceModel()
    model.onWelcome(welcome([], script.envelopes.length), 0)
    model.append(script.envelopes, 1000)
    expect(model.live.rate(1000)).toBe(0)
    expect(model.live.drainAnnouncements()).toBe('')
    const run = script.start('bot', 'Looking')
    script.thought('bot', run.id, 'not announced')
    script.conclude('bot', run.id, 'It is\nready.')
    for (const count of [1, 2, 3]) script.chat('eve', `message ${count}`)
    model.append(script.envelopes, 2000)
    expect(model.live.rate(2000)).toBeCloseTo(6 / 5)
    expect(model.live.rate(9000)).toBe(0)
    expect(model.live.drainAnnouncements()).toBe(
      'bot begins to think: Looking. bot concludes: It is ready.. eve says: message 1. and 2 more',
    )
    expect(model.live.drainAnnouncements()).toBe('')
  })

  test('announces decisions, and not what this reader says', () => {
    const script = new Script()
    const model = new SpaceModel()
    model.onWelcome(welcome([], 0), 0)
    const run = script.start('bot', 'Looking')
    const [read, write] = ['read', 'write'].map((tool) => script.propose('bot', run.id, tool))
    model.append(script.envelopes, 1000)
    model.live.drainAnnouncements()
    const decide = (kind: string, from: string, { id: correlationId, payload }: typeof run): void =>
      void script.say({ from, to: ['tools'], kind, context: run.id, payload, correlationId })
    if (read) decide('mcp.request', 'eve', read)
    if (write) decide('mcp.reject', 'ana', write)
    script.chat('ana', 'not now')
    model.append(script.envelopes, 2000)
    expect(model.live.drainAnnouncements()).toBe(
      'eve approves read, proposed by bot. ana rejects write, proposed by bot',
    )
  })

  test('tells how far the clocks are apart', () => {
    const script = new Script()
    const { ts } = script.chat('ana', 'now')
    const model = new SpaceModel()
    expect(model.gatewayTime(500)).toBe(500)
    model.append(script.envelopes, 1000)
    expect(model.gatewayTime(1500)).toBe(Date.parse(ts) + 500)
  })
})

test('a very long log loses its beginning, but not what still goes on', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking')
  const proposal = script.propose('bot', run.id, 'release')
  for (let count = 0; count < 200; count++) script.chat('ana', `message ${count}`)
  const model = new SpaceModel({ maxEnvelopes: 100, slack: 20 })
  for (let at = 0; at < script.envelopes.length; at += 10) {
    model.append(script.envelopes.slice(at, at + 10), 0)
    expect(model.log.envelopes.length).toBeLessThanOrEqual(120)
  }
  expect(gists(model).slice(0, 2)).toEqual(['bot thinks [some] Looking', '  release open'])
  expect(gists(model).at(-1)).toBe('ana: message 199')
  expect(model.lists.stream.rows.length).toBeLessThanOrEqual(122)
  script.say({
    from: 'bot',
    kind: 'mcp.withdraw',
    correlationId: proposal.id,
    payload: { reason: 'no need' },
  })
  model.append(script.envelopes.slice(-1), 0)
  expect(gists(model)[1]).toBe('  release withdrawn')
})
