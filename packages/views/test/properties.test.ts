import type { Envelope } from '@meup/protocol'
import {
  createContextFold,
  createPresenceFold,
  createProposalFold,
  createTranscript,
  createTurnFold,
  type Fold,
  type ReasoningStep,
  reasoningBlock,
  reasoningEvent,
  type TurnRecord,
  turnDetail,
  turnInfo,
} from '@meup/views'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { type Fields, toLog } from './support/log.js'
import { randomLog } from './support/random-log.js'
import { session, tell } from './support/turns.js'

const folds: Record<string, () => Fold<unknown, unknown>> = {
  turns: () => createTurnFold(session),
  contexts: () => createContextFold(),
  proposals: () => createProposalFold(),
  presence: () => createPresenceFold(),
  transcript: () => createTranscript(),
}

/** As the caller reads it: at once, because records go on living. */
const changesOf = (fold: Fold<unknown, unknown>, log: readonly Fields[], first = 1): unknown[] =>
  toLog(log, first).map((envelope) => JSON.parse(JSON.stringify(fold.apply(envelope))))

describe.for(Object.entries(folds))('the fold of %s', ([, create]) => {
  test('goes on from a snapshot as if it had seen the whole log', () => {
    fc.assert(
      fc.property(randomLog(50), fc.nat(49), (log, at) => {
        const cut = at % log.length
        const whole = create()
        const changes = changesOf(whole, log)
        const before = create()
        changesOf(before, log.slice(0, cut))
        const after = create()
        after.restore(JSON.parse(JSON.stringify(before.snapshot())))
        expect(after.seq).toBe(cut)
        expect(changesOf(after, log.slice(cut), cut + 1)).toEqual(changes.slice(cut))
        expect(JSON.stringify(after.snapshot())).toBe(JSON.stringify(whole.snapshot()))
      }),
    )
  })

  test('takes no envelope twice', () => {
    fc.assert(
      fc.property(randomLog(30), (log) => {
        const fold = create()
        changesOf(fold, log)
        const before = JSON.stringify(fold.snapshot())
        changesOf(fold, log)
        expect(JSON.stringify(fold.snapshot())).toBe(before)
      }),
    )
  })
})

/** What the changes of a fold add up to, by the key of each part. */
function told<Change, Part>(
  fold: { apply(envelope: Envelope): Change },
  log: readonly Fields[],
  parts: (change: Change) => readonly Part[],
  keyOf: (part: Part) => string,
): Record<string, Part> {
  const all = toLog(log).flatMap((envelope) => structuredClone(parts(fold.apply(envelope))))
  return Object.fromEntries(all.map((part) => [keyOf(part), part]))
}

test('changes tell of everything that is different', () => {
  fc.assert(
    fc.property(randomLog(50), (log) => {
      const turns = createTurnFold(session)
      const records = told(
        turns,
        log,
        (change) => change.turns,
        ({ id }) => id,
      )
      expect(records).toEqual(Object.fromEntries(turns.snapshot().ledger.turns))
      const contexts = createContextFold()
      const views = told(
        contexts,
        log,
        (change) => change.contexts,
        ({ context }) => context,
      )
      expect(views).toEqual(Object.fromEntries(contexts.all().map((each) => [each.context, each])))
      const proposals = createProposalFold()
      const proposed = told(
        proposals,
        log,
        (changed) => changed,
        ({ id }) => id,
      )
      expect(proposed).toEqual(Object.fromEntries(proposals.snapshot().proposals))
      const transcript = createTranscript()
      const messages = told(
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
  const always = (check: (told: ReturnType<typeof tell>) => void): void =>
    fc.assert(
      fc.property(randomLog(60), (log) => {
        for (const agent of ['ana', 'ben']) check(tell(log, agent))
      }),
      { numRuns: 150 },
    )

  verifies('I03', 'every tool decision has a rationale that is not blank', () => {
    always(({ turns, events }) => {
      const decisions = turns.flatMap(({ reasoning }) => reasoning?.tool_decisions ?? [])
      expect(decisions.every(({ rationale }) => rationale.trim() !== '')).toBe(true)
      const told = events.flatMap(({ tool_decisions }) => [...tool_decisions])
      expect(told.every(({ rationale, outcome }) => rationale.trim() !== '' && outcome !== null)).toBe(true)
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

  test('an event can be told again when the turn has gone on, byte for byte', () => {
    always(({ events, ends }) => {
      expect(JSON.stringify(ends.flatMap((end) => reasoningEvent(end) ?? []))).toBe(JSON.stringify(events))
    })
  })

  test('a reader who may read nothing is told nothing', () => {
    always(({ records, ends }) => {
      const nothing = () => false
      expect(records.flatMap((record) => turnInfo(record, nothing) ?? [])).toEqual([])
      expect(ends.flatMap((end) => reasoningEvent(end, nothing) ?? [])).toEqual([])
    })
  })

  test('of an envelope that a reader may not read nothing is told', () => {
    fc.assert(
      fc.property(randomLog(40), fc.nat(39), (log, at) => {
        const hidden = `e${(at % log.length) + 1}`
        const without = (record: TurnRecord) => turnDetail(record, ({ id }) => id !== hidden)
        const marked = log.map((each) =>
          each.id === hidden ? { ...each, payload: marks(each.payload), rationale: mark } : each,
        )
        const told = tell(marked).records.map(without)
        expect(JSON.stringify(told)).not.toContain(mark)
      }),
    )
  })
})

const mark = 'SECRET-MARK'
const marks = (payload: Fields['payload']): NonNullable<Fields['payload']> =>
  JSON.parse(
    JSON.stringify(payload, (key, value) => (['message', 'text', 'name'].includes(key) ? mark : value)) ??
      '{}',
  )
