import { Past, SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gists, Script, welcome } from './support.js'

const never = (): boolean => false

/** Participants join and leave, think, and make proposals that expire. */
function story(): Script {
  const script = new Script()
  for (let round = 0; round < 6; round++) {
    script.presence('join', `guest-${round}`)
    const question = script.chat('ana', `question ${round}`)
    const run = script.start('bot', 'Looking', { correlationId: question.id })
    script.thought('bot', run.id, `thought ${round}`)
    const request = script.call('bot', run.id, 'lint')
    script.propose('bot', run.id, 'release', { expiresAt: new Date(Date.parse(run.ts) + 5000).toISOString() })
    script.presence('leave', `guest-${round}`)
    script.answer(request, 'fine')
    script.conclude('bot', run.id, `concluded ${round}`)
    script.chat('bot', `answer ${round}`, { correlationId: question.id })
  }
  return script
}

/** The current model, with the log loaded from its start. */
function buildPresent(script: Script): SpaceModel {
  const model = new SpaceModel()
  model.onWelcome(welcome(['ana', 'bot'], script.envelopes.length), 0)
  model.append(script.envelopes, 0)
  return model
}

/** The expected past state: a model of the log up to this seq. */
function then(script: Script, seq: number): SpaceModel {
  const model = new SpaceModel()
  model.onWelcome(welcome([]), 0)
  model.append(script.envelopes.slice(0, seq), 0)
  model.moment = Date.parse(script.envelopes[seq - 1]?.ts ?? '')
  return model
}

const seen = (model: SpaceModel | undefined) =>
  model && {
    rows: gists(model),
    people: model.people.map(({ id, isPresent, load }) => ({ id, isPresent, load })),
    pending: model.pending(0).map(({ id }) => id),
    last: model.log.last,
  }

/** The contents of all views, for comparing two models. */
const known = (model: SpaceModel | undefined) =>
  model && {
    ...seen(model),
    stream: model.lists.stream.rows,
    lanes: model.lists.lanes.map(({ key, size, list }) => ({ key, size, rows: list.rows })),
    questions: model.lists.questions.map(({ key, list }) => ({ key, rows: list.rows })),
    runs: model.runs(),
    hidden: model.hiddenRuns(),
    thoughts: model.people.map(({ id }) => model.members.countThoughts(id)),
    statuses: model.people.map(({ id }) => model.members.getStatus(id)),
    answers: model.log.envelopes.map(({ id }) => model.log.answersTo(id)),
  }

/** An event, and the number that selects the earlier envelope to which it refers. */
const step = fc.record({
  what: fc.constantFrom(
    ...(['chat', 'start', 'nest', 'think', 'call', 'answer', 'fail', 'propose', 'fulfil', 'reject'] as const),
    ...([
      'conclude',
      'cancel',
      'hide',
      'show',
      'acknowledge',
      'takeBack',
      'join',
      'leave',
      'status',
    ] as const),
  ),
  who: fc.constantFrom('ana', 'bot', 'eve'),
  about: fc.nat(),
})

function buildScript(steps: readonly { what: string; who: string; about: number }[]): Script {
  const script = new Script()
  script.chat('ana', 'good morning')
  for (const { what, who: from, about } of steps) {
    const { envelopes } = script
    const pick = (...kinds: string[]): Envelope | undefined => {
      const some = envelopes.filter(({ kind }) => kinds.includes(kind))
      return some[about % some.length]
    }
    const start = pick('reasoning.start')
    const context = start && (start.context === undefined ? start.id : `${start.context}/${start.id}`)
    const inRun = context === undefined ? {} : { context }
    const correlationId = (pick('mcp.proposal', 'chat', 'mcp.request') ?? envelopes[0])?.id ?? ''
    const expiresAt = new Date(
      Date.UTC(2026, 0, 1, 12) + (envelopes.length + (about % 20)) * 1000,
    ).toISOString()
    const request = { method: 'tools/call', params: { name: 'release' } }
    const actions: Record<string, () => unknown> = {
      chat: () => script.chat(from, `message ${envelopes.length}`, { correlationId }),
      start: () => script.start(from, 'Looking', { correlationId }),
      nest: () => script.start(from, 'Deeper', inRun),
      think: () => script.say({ from, kind: 'reasoning.thought', ...inRun, payload: { message: 'hm' } }),
      call: () => script.call(from, context ?? 'free', 'lint', { parallelGroup: about % 2 }),
      answer: () => script.answer(pick('mcp.request') ?? envelopes[0] ?? script.chat(from, ''), 'fine'),
      fail: () => script.answer(pick('mcp.request') ?? envelopes[0] ?? script.chat(from, ''), 'no', true),
      propose: () => script.propose(from, context ?? 'free', 'release', { expiresAt, uses: 2 }),
      fulfil: () => script.say({ from, kind: 'mcp.request', correlationId, payload: request }),
      reject: () => script.say({ from, kind: 'mcp.reject', correlationId, payload: { reason: 'no' } }),
      conclude: () =>
        script.say({ from, kind: 'reasoning.conclusion', ...inRun, payload: { message: 'so' } }),
      cancel: () => script.say({ from: 'system:gateway', kind: 'reasoning.cancel', ...inRun }),
      hide: () =>
        script.say({ from, kind: 'observe.visibility', payload: { ...inRun, reasoningVisible: false } }),
      show: () =>
        script.say({ from, kind: 'observe.visibility', payload: { ...inRun, reasoningVisible: true } }),
      acknowledge: () => script.say({ from, kind: 'chat.acknowledge', correlationId }),
      takeBack: () => script.say({ from, kind: 'chat.cancel', correlationId }),
      join: () => script.presence('join', `guest-${about % 3}`),
      leave: () => script.presence('leave', `guest-${about % 3}`),
      status: () => script.say({ from, kind: 'participant.status', payload: { load: about % 9 } }),
    }
    actions[what]?.()
  }
  return script
}

function arrived(past: Past): SpaceModel | undefined {
  expect(past.work(never)).toBe(true)
  return past.model
}

describe('a moment of the past', () => {
  test('is what there was then, wherever one comes from', () => {
    const script = story()
    const seqs = fc.array(fc.integer({ min: 1, max: script.envelopes.length }), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(seqs, (jumps) => {
        const past = new Past(buildPresent(script))
        for (const seq of jumps) {
          past.seek(seq)
          expect(seen(arrived(past))).toEqual(seen(then(script, seq)))
        }
      }),
    )
  })

  test('is what there was then, also when it is made from a checkpoint', () => {
    const steps = fc.array(step, { minLength: 20, maxLength: 80 })
    const jumps = fc.array(fc.nat(), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 30 }), jumps, (drawn, between, places) => {
        const script = buildScript(drawn)
        const { length } = script.envelopes
        const past = new Past(buildPresent(script), between)
        for (const seq of [length, ...places.map((place) => 1 + (place % length)), length]) {
          past.seek(seq)
          expect(known(arrived(past))).toEqual(known(then(script, seq)))
        }
      }),
    )
  })

  test('that is earlier takes no more than the envelopes from the checkpoint before it', () => {
    const script = new Script()
    for (let count = 0; count < 2000; count++) script.chat('ana', `message ${count}`)
    const past = new Past(buildPresent(script), 500)
    past.seek(2000)
    arrived(past)
    for (const seq of [1999, 1250, 1240, 501, 499, 2]) {
      past.seek(seq)
      let looks = 0
      expect(past.work(() => looks++ > 10)).toBe(true)
      expect(past.model?.log.last).toBe(seq)
    }
  })

  test('is approached a little at a time', () => {
    const script = new Script()
    for (let count = 0; count < 1000; count++) script.chat('ana', `message ${count}`)
    const past = new Past(buildPresent(script))
    past.seek(10)
    arrived(past)
    past.seek(1000)
    const looks = Array.from({ length: 4 }, (_, count) => {
      let left = count
      return past.work(() => left-- === 0)
    })
    expect(looks).toEqual([false, false, false, false])
    expect(past.progress).toBeGreaterThan(0)
    expect(past.progress).toBeLessThan(1)
    past.seek(5)
    expect(past.work(() => true)).toBe(false)
    expect(arrived(past)?.log.last).toBe(5)
  })

  test('stays while the present goes on', () => {
    const script = story()
    const present = buildPresent(script)
    const past = new Past(present)
    past.seek(7)
    const before = seen(arrived(past))
    const { length } = script.envelopes
    script.chat('eve', 'something new')
    present.append(script.envelopes.slice(length), 0)
    expect(seen(arrived(past))).toEqual(before)
    past.seek(length + 1)
    expect(arrived(past)?.log.last).toBe(length + 1)
  })

  test('has what was loaded later in its place', () => {
    const script = story()
    const { envelopes } = script
    const present = new SpaceModel()
    present.onWelcome(welcome(['ana', 'bot'], envelopes.length), 0)
    present.append(envelopes.slice(30), 0)
    const past = new Past(present)
    past.seek(40)
    expect(arrived(past)?.log.first).toBe(31)
    present.merge(envelopes.slice(0, 30))
    expect(seen(arrived(past))).toEqual(seen(then(script, 40)))
  })

  test('knows who was there though nobody saw them come', () => {
    const script = story()
    const at = script.envelopes.findIndex(({ kind, payload }) => {
      const { participant } = payload as { participant?: { id: string } }
      return kind === 'system.presence' && participant?.id === 'guest-3'
    })
    const present = new SpaceModel()
    present.onWelcome(welcome(['ana', 'bot', 'guest-5'], script.envelopes.length), 0)
    present.append(script.envelopes.slice(at + 1), 0)
    const past = new Past(present)
    past.seek(at + 2)
    const people = arrived(past)?.people ?? []
    const present3 = people.filter(({ isPresent }) => isPresent).map(({ id }) => id)
    expect(present3).toEqual(['ana', 'bot', 'guest-3'])
  })

  test('keeps what the reader has unfolded and hidden, and gives it back', () => {
    const script = new Script()
    const run = script.start('bot', 'Looking')
    script.thought('bot', run.id, 'hm')
    script.conclude('bot', run.id, 'done')
    script.chat('ana', 'fine')
    const present = buildPresent(script)
    present.choose(run.id, 'all')
    const past = new Past(present)
    past.seek(3)
    expect(gists(arrived(past) ?? present)).toContain('  thought hm')
    past.model?.choose(run.id, 'closed')
    present.redrawAll()
    expect(gists(present)).not.toContain('  thought hm')
  })
})

describe('playing', () => {
  test('goes as fast as it went, and skips what took long', () => {
    const script = new Script()
    for (let count = 0; count < 5; count++) script.chat('ana', `message ${count}`)
    const late = script.chat('ana', 'much later')
    script.envelopes[5] = { ...late, ts: new Date(Date.parse(late.ts) + 3_600_000).toISOString() }
    const past = new Past(buildPresent(script))
    past.seek(1)
    past.play(999, 1)
    expect(past.target).toBe(1)
    past.play(1, 1)
    expect(past.target).toBe(2)
    past.play(1500, 2)
    expect(past.target).toBe(3)
    arrived(past)
    expect(past.model?.gatewayTime(0)).toBe(Date.parse(script.envelopes[2]?.ts ?? '') + 500)
    past.play(1500, 1)
    expect(past.target).toBe(5)
    past.play(1999, 1)
    expect(past.target).toBe(5)
    past.play(1, 1)
    expect(past.target).toBe(6)
  })
})
