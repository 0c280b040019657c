import {
  Assigner,
  type Beginning,
  createContextFold,
  createTranscript,
  defaultGuard,
  endingRoles,
  type Fold,
  FoldedTurn,
  type Mark,
  Participants,
  ProposalViews,
  type ReasoningStep,
  reasoningBlock,
  reasoningEvent,
} from '@meup/folds'
import { type Envelope, isThought } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { verifies } from '../../../test/verifies.js'
import { type Fields, toLog } from './support/log.js'
import { randomLog } from './support/random-log.js'
import { foldTurns, getRoles, session } from './support/turns.js'

const folds: Record<string, () => Fold<unknown, unknown>> = {
  contexts: () => createContextFold(),
  proposals: () => new ProposalViews(defaultGuard),
  participants: () => new Participants(),
  transcript: () => createTranscript(),
}

/** Copies each change at once, because folds change their records later. */
const getChanges = (fold: Fold<unknown, unknown>, log: readonly Fields[], first = 1): unknown[] =>
  toLog(log, first).map((envelope) => JSON.parse(JSON.stringify(fold.apply(envelope))))

describe.for(Object.entries(folds))('the fold of %s', ([, create]) => {
  test('goes on from a snapshot as if it had seen the whole log', () => {
    fc.assert(
      fc.property(randomLog(50), fc.nat(49), (log, at) => {
        const cut = at % log.length
        const whole = create()
        const changes = getChanges(whole, log)
        const before = create()
        getChanges(before, log.slice(0, cut))
        const after = create()
        after.restore(JSON.parse(JSON.stringify(before.snapshot())))
        expect(after.seq).toBe(cut)
        expect(getChanges(after, log.slice(cut), cut + 1)).toEqual(changes.slice(cut))
        expect(JSON.stringify(after.snapshot())).toBe(JSON.stringify(whole.snapshot()))
      }),
    )
  })

  test('takes no envelope twice', () => {
    fc.assert(
      fc.property(randomLog(30), (log) => {
        const fold = create()
        getChanges(fold, log)
        const before = JSON.stringify(fold.snapshot())
        getChanges(fold, log)
        expect(JSON.stringify(fold.snapshot())).toBe(before)
      }),
    )
  })
})

/** The last state of each part that a fold has reported as changed, by the key of the part. */
function collectChanges<Change, Part>(
  fold: { apply(envelope: Envelope): Change },
  log: readonly Fields[],
  parts: (change: Change) => readonly Part[],
  getKey: (part: Part) => string,
): Record<string, Part> {
  const all = toLog(log).flatMap((envelope) => structuredClone(parts(fold.apply(envelope))))
  return Object.fromEntries(all.map((part) => [getKey(part), part]))
}

test('changes tell of everything that is different', () => {
  fc.assert(
    fc.property(randomLog(50), (log) => {
      const contexts = createContextFold()
      const views = collectChanges(
        contexts,
        log,
        (change) => change.contexts,
        ({ context }) => context,
      )
      expect(views).toEqual(Object.fromEntries(contexts.all().map((each) => [each.context, each])))
      const proposals = new ProposalViews(defaultGuard)
      const proposed = collectChanges(
        proposals,
        log,
        (changed) => changed,
        ({ id }) => id,
      )
      const known = proposals.snapshot().calls.flatMap(({ data }) => (data === null ? [] : [[data.id, data]]))
      expect(proposed).toEqual(Object.fromEntries(known))
      const transcript = createTranscript()
      const messages = collectChanges(
        transcript,
        log,
        (changed) => changed,
        ({ source }) => source.id,
      )
      expect(messages).toEqual(
        Object.fromEntries(transcript.messages().map((each) => [each.source.id, each])),
      )
    }),
  )
})

describe('whatever happens', () => {
  const always = (check: (folded: ReturnType<typeof foldTurns>) => void): void =>
    fc.assert(
      fc.property(randomLog(60), (log) => {
        for (const agent of ['ana', 'ben']) check(foldTurns(log, agent))
      }),
      { numRuns: times(30, 1000) },
    )

  verifies('I03', 'every tool decision has a rationale that is not blank', () => {
    always(({ turns, events }) => {
      const decisions = turns.flatMap(({ reasoning }) => reasoning?.tool_decisions ?? [])
      expect(decisions.every(({ rationale }) => rationale.trim() !== '')).toBe(true)
      const reported = events.flatMap(({ tool_decisions }) => [...tool_decisions])
      expect(reported.every(({ rationale, outcome }) => rationale.trim() !== '' && outcome !== null)).toBe(
        true,
      )
    })
  })

  test('steps are numbered without gaps in turns that are known, and their ids rise', () => {
    always(({ steps, records }) => {
      const ids = steps.map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)].sort())
      const byTurn = new Map<string, ReasoningStep[]>()
      for (const step of steps) byTurn.set(step.turn_id, [...(byTurn.get(step.turn_id) ?? []), step])
      for (const [id, inTurn] of byTurn) {
        expect(inTurn.map(({ step_number }) => step_number)).toEqual(inTurn.map((_, index) => index))
        expect(records.some((record) => record.id === id)).toBe(true)
      }
    })
  })

  test('turns of a thread are numbered without gaps, and say no more than what happened', () => {
    always(({ turns, records }) => {
      expect(turns.map(({ turn_number }) => turn_number)).toEqual(turns.map((_, index) => index + 1))
      expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
      for (const turn of turns) {
        expect(turn.completed_at === null).toBe(turn.state === 'running')
        expect(turn.reasoning === null).toBe(turn.tool_calls.length === 0)
        expect(turn.tool_calls.every(({ has_result, has_error }) => !(has_result && has_error))).toBe(true)
        expect(reasoningBlock(turn.reasoning)).toHaveLength(
          reasoningBlock(turn.reasoning).flatMap((line) => line.split('\n')).length,
        )
      }
    })
  })

  test('groups have two calls or more, and are numbered from 0', () => {
    always(({ records }) => {
      for (const { decisions } of records) {
        const groups = decisions.flatMap(({ parallelGroup }) => parallelGroup ?? [])
        const numbers = [...new Set(groups)].sort((one, other) => one - other)
        expect(numbers).toEqual(numbers.map((_, index) => index))
        for (const number of numbers)
          expect(groups.filter((each) => each === number).length).toBeGreaterThan(1)
      }
    })
  })

  test('every thought makes a step, and nothing else of reasoning does', () => {
    fc.assert(
      fc.property(randomLog(60), (log) => {
        const { steps } = foldTurns(log)
        const seqs = new Set(steps.map(({ source }) => source.seq))
        for (const { seq = 0, kind } of toLog(log)) {
          if (!kind.startsWith('reasoning.')) continue
          // Every thought makes a step, because a random one always has text: if its `message` is blank, that of the field
          // `reason`.
          expect(seqs.has(seq)).toBe(isThought(kind))
        }
      }),
    )
  })

  test('a reader who may read nothing is told nothing', () => {
    fc.assert(
      fc.property(randomLog(60), (log) => {
        const { records, steps, events } = foldTurns(log, 'ana', { mayRead: () => false })
        for (const record of records)
          expect(record).toMatchObject({ trigger: null, answer: null, narrative: null, decisions: [] })
        expect([steps, events]).toEqual([[], []])
      }),
    )
  })

  test('of an envelope that a reader may not read nothing is told', () => {
    fc.assert(
      fc.property(randomLog(40), fc.nat(39), (log, at) => {
        const hidden = `e${(at % log.length) + 1}`
        const marked = log.map((each) =>
          each.id === hidden ? { ...each, payload: marks(each.payload), rationale: mark } : each,
        )
        const { records, turns, steps, events } = foldTurns(marked, 'ana', {
          mayRead: ({ id }) => id !== hidden,
        })
        expect(JSON.stringify([records, turns, steps, events])).not.toContain(mark)
      }),
    )
  })
})

describe('what is assigned to turns', () => {
  const assign = (assigner: Assigner, log: readonly Envelope[]) =>
    log.map((envelope) => structuredClone(plain(assigner.assign(envelope))))

  test('is the same after a snapshot as if the whole log had been seen', () => {
    fc.assert(
      fc.property(randomLog(60), fc.nat(59), (fields, at) => {
        const log = toLog(fields)
        const cut = at % log.length
        const whole = new Assigner(session.epoch)
        const assigned = assign(whole, log)
        const before = new Assigner(session.epoch)
        assign(before, log.slice(0, cut))
        const after = new Assigner(session.epoch)
        after.restore(JSON.parse(JSON.stringify(before.snapshot())))
        expect(after.seq).toBe(cut)
        expect(assign(after, log.slice(cut))).toEqual(assigned.slice(cut))
        expect(JSON.stringify(after.snapshot())).toBe(JSON.stringify(whole.snapshot()))
      }),
    )
  })

  test('does not change when the log is told twice', () => {
    fc.assert(
      fc.property(randomLog(30), (fields) => {
        const log = toLog(fields)
        const assigner = new Assigner(session.epoch)
        assign(assigner, log)
        const before = JSON.stringify(assigner.snapshot())
        expect(assign(assigner, log).every(({ begun, marks }) => begun.length + marks.length === 0)).toBe(
          true,
        )
        expect(JSON.stringify(assigner.snapshot())).toBe(before)
      }),
    )
  })

  test('does not depend on envelopes that are in no turn and begin none', () => {
    fc.assert(
      fc.property(randomLog(60), (fields) => {
        const log = toLog(fields)
        const assigned = assign(new Assigner(session.epoch), log)
        const triggers = new Set(assigned.flatMap(({ begun }) => begun.map(({ trigger }) => trigger)))
        const isUsed = (_: unknown, index: number) =>
          triggers.has(index + 1) || assigned[index]?.marks.length !== 0
        expect(assign(new Assigner(session.epoch), log.filter(isUsed))).toEqual(assigned.filter(isUsed))
      }),
    )
  })

  test('makes turns that are the same, folded from their envelopes alone', () => {
    fc.assert(
      fc.property(randomLog(60), (fields) => {
        const log = toLog(fields)
        const begun: Beginning[] = []
        const rows = new Map<number, [seq: number, roles: number][]>()
        for (const [index, assigned] of assign(new Assigner(session.epoch), log).entries()) {
          begun.push(...assigned.begun)
          for (const [turn, roles] of getRoles(assigned.marks))
            rows.set(turn, [...(rows.get(turn) ?? []), [index, roles]])
        }
        expect(begun.map(({ turn }) => turn)).toEqual(begun.map((_, index) => index + 1))
        const { records, events } = foldTurns(fields)
        const reported = begun.flatMap((beginning, index) => {
          const trigger = beginning.trigger === null ? undefined : log[beginning.trigger - 1]
          const folded = new FoldedTurn(beginning, session, trigger)
          const ended = (rows.get(beginning.turn) ?? []).flatMap(([at, roles]) => {
            const envelope = log[at]
            if (envelope === undefined || !folded.apply(envelope, roles)) return []
            return JSON.stringify(reasoningEvent(folded.record)) ?? []
          })
          expect(folded.record).toEqual(records[index])
          return ended
        })
        expect(reported.sort()).toEqual(events.map((event) => JSON.stringify(event)).sort())
      }),
    )
  })

  test('ends batches by nothing but what may end them, and makes steps in order', () => {
    fc.assert(
      fc.property(randomLog(60), (fields) => {
        const assigned = assign(new Assigner(session.epoch), toLog(fields))
        const ending = assigned.flatMap(({ marks }, index) =>
          marks.some(({ roles }) => (roles & endingRoles) !== 0) ? [index + 1] : [],
        )
        expect(ending).toEqual(
          expect.arrayContaining([...new Set(foldTurns(fields).ends.map(([seq]) => seq))]),
        )
        for (const { begun, marks } of assigned) {
          const places = marks.flatMap(({ index, steps }) =>
            Array.from({ length: steps }, (_, at) => index + at),
          )
          expect(new Set(places).size).toBe(places.length)
          expect(Math.max(-1, ...places)).toBeLessThan(places.length + begun.length)
        }
      }),
    )
  })
})

/** The effects of an envelope as JSON, without class instances. */
const plain = ({ begun, marks, at }: ReturnType<Assigner['assign']>) => ({
  begun,
  at,
  marks: marks.map(
    ({ beginning, roles, step, steps, phases, index }): Mark => ({
      beginning,
      roles,
      step,
      steps,
      phases,
      index,
    }),
  ),
})

const mark = 'SECRET-MARK'
const marks = (payload: Fields['payload']): NonNullable<Fields['payload']> =>
  JSON.parse(
    JSON.stringify(payload, (key, value) => (['message', 'text', 'name'].includes(key) ? mark : value)) ??
      '{}',
  )
