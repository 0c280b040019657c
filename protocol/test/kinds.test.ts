import {
  ChatPayload,
  checkPayload,
  getKindRule,
  isKnownKind,
  Kind,
  kindRules,
  MessagePayload,
  namespaceOf,
  READ_TARGETED,
  ReasoningConclusionPayload,
  ReasoningStartPayload,
  ReasoningThoughtPayload,
  reservedNamespaces,
} from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../test/verifies.js'

const kinds = Object.values(Kind)
const coreReasoningKinds = [Kind.reasoningStart, Kind.reasoningThought, Kind.reasoningConclusion]

describe('reasoning', () => {
  verifies('M02', 'start, thought and conclusion are the core kinds, and there is no fourth', () => {
    expect([...coreReasoningKinds]).toEqual(['reasoning.start', 'reasoning.thought', 'reasoning.conclusion'])
    const others = kinds.filter(
      (kind) => namespaceOf(kind) === 'reasoning' && !coreReasoningKinds.some((core) => core === kind),
    )
    expect(others).toEqual(['reasoning.cancel'])
  })

  verifies('M03', 'chat and the three kinds share one payload, and a wrong message is reported', () => {
    const shared = MessagePayload.properties
    for (const payload of [ReasoningStartPayload, ReasoningThoughtPayload, ReasoningConclusionPayload]) {
      expect(payload.properties).toMatchObject(shared)
    }
    expect(Object.keys(ChatPayload.properties)).toEqual([
      ...Object.keys(shared),
      'mentions',
      'data',
      'handOver',
    ])
    expect(ChatPayload.properties.format).toEqual(shared.format)
    for (const kind of [Kind.chat, ...coreReasoningKinds]) {
      expect(checkPayload(kind, { message: 'Analyzing…' })).toBeUndefined()
      for (const message of [5, null, ['Analyzing…'], { text: 'Analyzing…' }]) {
        expect(checkPayload(kind, { message })).toEqual({
          path: '/payload/message',
          message: 'must be string',
        })
      }
    }
  })

  verifies(
    'O10',
    'an answer that is written, whole, stopped, failed or thought about has a kind and a payload each',
    () => {
      /** For each state of an answer, its kind, an accepted payload, and rejected payloads by the path of the invalid field. */
      const states: Record<
        string,
        readonly [kind: Kind, good: object, bad: Readonly<Record<string, object>>]
      > = {
        delta: [
          Kind.chatDelta,
          { index: 0, text: 'It' },
          {
            '/payload/index': { index: -1, text: 'It' },
            '/payload/index ': { index: 1.5, text: 'It' },
            '/payload/index  ': { text: 'It' },
            '/payload/text': { index: 0 },
          },
        ],
        final: [Kind.chat, { message: 'It is 5.' }, { '/payload/message': {} }],
        aborted: [
          Kind.reasoningCancel,
          { reason: 'interrupted by ana' },
          { '/payload/reason': { reason: 5 } },
        ],
        error: [
          Kind.systemError,
          { code: 'unavailable', message: 'Later.' },
          { '/payload/message': { code: 'unavailable' } },
        ],
        reasoning: [Kind.reasoningThought, { message: 'A sum.' }, { '/payload/message': { message: 5 } }],
      }
      for (const [state, [kind, good, bad]] of Object.entries(states)) {
        expect([state, checkPayload(kind, { ...good })]).toEqual([state, undefined])
        for (const [path, payload] of Object.entries(bad)) {
          expect([state, checkPayload(kind, { ...payload })?.path]).toEqual([state, path.trim()])
        }
      }
      // The conclusion of the run reports the usage, because deltas are not logged.
      const metadata = { tokens: { input: 1, output: 2, reasoning: 0 }, stopReason: 'stop' }
      expect(checkPayload(Kind.reasoningConclusion, { metadata })).toBeUndefined()
      expect(kindRules[Kind.chatDelta]).toMatchObject({ live: true, requires: ['correlationId'] })
    },
  )

  test('their message is optional and may be empty', () => {
    for (const kind of coreReasoningKinds) {
      expect(checkPayload(kind, {})).toBeUndefined()
      expect(checkPayload(kind, { message: '' })).toBeUndefined()
    }
    expect(checkPayload(Kind.chat, {})?.path).toBe('/payload/message')
  })

  test('an unknown reasoning kind has the rule of a thought', () => {
    expect(getKindRule('reasoning.hypothesis')).toBe(kindRules[Kind.reasoningThought])
    expect(isKnownKind('reasoning.hypothesis')).toBe(false)
  })
})

describe('every kind', () => {
  test('is in a reserved namespace and has a rule', () => {
    for (const kind of kinds) {
      expect(reservedNamespaces.has(namespaceOf(kind)), kind).toBe(true)
      expect(getKindRule(kind)).toBe(kindRules[kind])
    }
    expect(Object.keys(kindRules)).toEqual(kinds)
  })

  test('has a payload that is an object', () => {
    for (const kind of kinds) {
      for (const wrong of [[], 'text', null]) expect(checkPayload(kind, wrong)?.path, kind).toBe('/payload')
    }
  })

  test('of the gateway is no kind that everybody may send', () => {
    const both = kinds.filter((kind) => kindRules[kind].gateway && kindRules[kind].free)
    expect(both).toEqual([])
    for (const kind of kinds.filter((each) => namespaceOf(each) === 'system')) {
      expect(kindRules[kind].gateway, kind).toBe(true)
    }
  })
})

test('the right to read what is addressed to others is no kind', () => {
  expect(isKnownKind(READ_TARGETED)).toBe(false)
  expect(getKindRule(READ_TARGETED)).toBeUndefined()
})

test.for(['constructor', '__proto__', 'toString', '', 'acme'])('%j is no kind of ours', (name) => {
  expect(isKnownKind(name)).toBe(false)
  expect(getKindRule(name)).toBeUndefined()
  expect(checkPayload(name, 5)).toBeUndefined()
})
