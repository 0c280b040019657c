import {
  answerFor,
  contextDepth,
  contextParent,
  contextRoot,
  isContextAncestor,
  joinContext,
  Kind,
  openedContext,
  ownerOf,
  parseContext,
} from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.js'
import { verifies } from '../../test/verifies.js'
import { delivered, singleAgent, twoAgents } from './flows.js'

const segment = fc.string({ unit: fc.constantFrom(...'aZ09_-'), minLength: 1, maxLength: 8 })
const segments = fc.array(segment, { minLength: 1, maxLength: 5 })

describe('paths', () => {
  test('a path is taken apart as it was put together', () => {
    fc.assert(
      fc.property(segments, (parts) => {
        const path = joinContext(...parts)
        expect(parseContext(path)).toEqual(parts)
        expect(contextDepth(path)).toBe(parts.length)
        expect(contextRoot(path)).toBe(parts[0])
        expect(contextParent(path)).toBe(parts.length === 1 ? undefined : parts.slice(0, -1).join('/'))
      }),
    )
  })

  test('the ancestors of a path are its parents, and nothing else', () => {
    fc.assert(
      fc.property(segments, segments, (parts, others) => {
        const path = parts.join('/')
        const ancestors = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
        for (const candidate of [...ancestors, path, `${path}/x`, others.join('/')]) {
          expect(isContextAncestor(candidate, path)).toBe(ancestors.includes(candidate))
        }
      }),
    )
  })

  test('any text is a path or is not, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const parts = parseContext(text)
        if (parts !== undefined) expect(joinContext(...parts)).toBe(text)
      }),
    )
  })

  test('what is absent is left out when paths are joined', () => {
    expect(joinContext('a/b', undefined, 'c', '')).toBe('a/b/c')
    expect(joinContext()).toBe('')
  })

  test('a start opens a context below its own, or a root', () => {
    expect(openedContext({ id: 'msg-301' })).toBe('msg-301')
    expect(openedContext({ id: 'msg-302', context: 'msg-301' })).toBe('msg-301/msg-302')
  })

  verifies('M18', 'hierarchical free-form paths are legal contexts, up to limits that can be set', () => {
    const paths = ['reason-789/permissions/result', 'reason-123/security/perms']
    expect(paths.map((path) => parseContext(path)?.length)).toEqual([3, 3])
    expect(paths.map(contextRoot)).toEqual(['reason-789', 'reason-123'])
    expect(paths.map(contextParent)).toEqual(['reason-789/permissions', 'reason-123/security'])
    expect(paths.map(contextDepth)).toEqual([3, 3])
    expect(paths.map((path) => isContextAncestor('reason-789', path))).toEqual([true, false])
    expect(paths.filter((path) => contextParent(path) === 'reason-789/permissions')).toEqual([paths[0]])

    expect(parseContext('a/b/c/d/e')).toBeDefined()
    expect(parseContext('a/b/c/d/e/f')).toBeUndefined()
    expect(parseContext('a/b/c/d/e/f', { contextDepth: 6, contextLength: 255 })).toHaveLength(6)
    expect(parseContext('a/b/c', { contextDepth: 2, contextLength: 255 })).toBeUndefined()
    const long = Array(4).fill('x'.repeat(63)).join('/')
    expect(long).toHaveLength(255)
    expect(parseContext(long)).toHaveLength(4)
    expect(parseContext(`${long}x`)).toBeUndefined()
    expect(parseContext(`${long}x`, { contextDepth: 5, contextLength: 256 })).toHaveLength(4)
  })
})

describe('runs', () => {
  verifies('M12', 'the context alone tells which agent is reasoning', () => {
    expect(ownerOf('msg-201', twoAgents)).toBe('security-agent')
    expect(ownerOf('msg-202', twoAgents)).toBe('perf-agent')
    expect(ownerOf('msg-202/deeper/still', twoAgents)).toBe('perf-agent')
    expect(ownerOf('msg-299', twoAgents)).toBeUndefined()
    expect(ownerOf('', [])).toBeUndefined()
  })

  test('only a start without context makes an owner', () => {
    expect(ownerOf('msg-200', twoAgents)).toBeUndefined()
    const nested = delivered([
      { id: 'a', kind: Kind.reasoningStart, from: 'ana' },
      { id: 'b', kind: Kind.reasoningStart, from: 'bob', context: 'a' },
    ])
    expect(ownerOf('a/b', nested)).toBe('ana')
    expect(ownerOf('b', nested)).toBeUndefined()
  })

  verifies('M20', 'the final answer is found by the context of the reasoning', () => {
    expect(answerFor('msg-101', singleAgent)?.id).toBe('msg-108')
    expect(answerFor('msg-201', twoAgents)?.id).toBe('msg-210')
    expect(answerFor('msg-202', twoAgents)?.id).toBe('msg-211')
    expect(answerFor('msg-202/deeper', twoAgents.toReversed())?.id).toBe('msg-211')
  })

  test('an answer may name the run itself, or several', () => {
    const start = { id: 'run', kind: Kind.reasoningStart, from: 'agent' }
    const answers = (correlationId: string | string[]) =>
      answerFor('run', delivered([start, { id: 'end', kind: Kind.chat, from: 'agent', correlationId }]))?.id
    expect(answers('run')).toBe('end')
    expect(answers(['other', 'run'])).toBe('end')
    expect(answers('other')).toBeUndefined()
  })

  test('no answer: nobody else, nothing inside a context, no other kind, no unknown run', () => {
    const [question, start] = singleAgent
    const chat = { id: 'x', kind: Kind.chat, from: 'agent', correlationId: 'msg-100' }
    for (const other of [
      { ...chat, from: 'user' },
      { ...chat, context: 'msg-101' },
      { ...chat, kind: Kind.chatAcknowledge },
    ]) {
      expect(
        answerFor(
          'msg-101',
          [question, start, ...delivered([other])].flatMap((e) => e ?? []),
        ),
      ).toBeUndefined()
    }
    expect(answerFor('msg-299', twoAgents)).toBeUndefined()
  })
})
