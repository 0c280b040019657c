import {
  type Capability,
  checkPayload,
  checkSubmission,
  compileCapabilities,
  contextDepth,
  contextParent,
  contextRoot,
  covers,
  getKindRule,
  isContextAncestor,
  isKnownKind,
  isThought,
  namespaceOf,
  normalise,
  PatternError,
  PROTOCOL,
  parseContext,
  readObject,
  reservedNamespaces,
  type Subject,
} from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { type Fault, vectorFiles, vectors } from './vectors.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Applies the checks of a frame that do not need a space. */
function checkFrame(frame: string): 'ok' | Fault {
  const read = readFrame(frame)
  if ('code' in read) return read
  const { protocol, context } = read.value
  if (protocol !== undefined && protocol !== PROTOCOL)
    return { code: 'unsupported_protocol', path: '/protocol' }
  const problem = checkSubmission(read.value)
  if (problem !== undefined) return { code: 'invalid_envelope', path: problem.path }
  const legal = context === undefined || parseContext(`${context}`) !== undefined
  return legal ? 'ok' : { code: 'invalid_context', path: '/context' }
}

function readFrame(frame: string) {
  const bytes = encode(frame)
  const object = readObject(bytes)
  if (typeof object === 'string') return { code: 'invalid_json' }
  const normalised = normalise(object, bytes)
  return 'path' in normalised ? { code: 'invalid_envelope', path: normalised.path } : normalised
}

/** Returns the code with which the gateway refuses a kind from every sender; `undefined` = none. */
function refusalOf(kind: string): string | undefined {
  const namespace = namespaceOf(kind)
  if (namespace === 'system' || getKindRule(kind)?.gateway) return 'reserved_kind'
  if (isKnownKind(kind) || namespace === 'reasoning') return undefined
  return reservedNamespaces.has(namespace) ? 'unknown_kind' : undefined
}

test('no two vectors of a file have one name, and all files together have many', () => {
  const names = vectorFiles.flatMap((file) => vectors(file).map(({ name }) => `${file}: ${name}`))
  expect(names).toEqual([...new Set(names)])
  expect(names.length).toBeGreaterThan(300)
})

describe('envelopes', () => {
  test.for(vectors('envelopes'))('$title', (vector) => {
    expect(checkFrame(vector.input)).toEqual(vector.expect)
  })
})

describe('aliases', () => {
  test.for(vectors('aliases'))('$title', (vector) => {
    const read = readFrame(vector.input)
    if ('code' in read) return expect(read).toEqual(vector.expect)
    const { payload, ...envelope } = read.value
    expect({ envelope, payload: decode(read.payload) }).toEqual(vector.expect)
    expect(JSON.parse(decode(read.payload))).toEqual(payload ?? {})
  })
})

const contextHelpers: Record<string, (path: string, other: string) => unknown> = {
  parse: (path) => parseContext(path),
  root: contextRoot,
  parent: contextParent,
  depth: contextDepth,
  ancestor: isContextAncestor,
}

describe('contexts', () => {
  test.for(vectors('contexts'))('$title', ({ input, expect: expected }) => {
    const results = Object.entries(input).map(([name, paths]) => {
      const [path = '', other = ''] = [paths].flat()
      return contextHelpers[name]?.(path, other) ?? null
    })
    expect(results).toEqual([expected])
  })
})

describe('kinds', () => {
  test.for(vectors('kinds'))('$title', ({ input, expect: expected }) => {
    const [rule, refused] = [getKindRule(input), refusalOf(input)]
    const isUnknown = refused !== undefined && !isKnownKind(input)
    const logged = !isUnknown && !rule?.ephemeral
    const accepted = {
      requires: rule?.requires ?? [],
      needsCapability: !rule?.free,
      takesRationale: rule?.toolCall ?? false,
      ...(!isKnownKind(input) && isThought(input) && { countsAs: 'reasoning.thought' }),
    }
    expect({ ...(refused === undefined ? accepted : { refused }), logged }).toEqual(expected)
  })
})

describe('payloads', () => {
  test.for(vectors('payloads'))('$title', ({ input, expect: expected }) => {
    const problem = checkPayload(input.kind, input.payload)
    expect(problem === undefined ? 'ok' : { path: problem.path }).toEqual(expected)
  })
})

describe('capabilities', () => {
  test.for(vectors('capabilities'))('$title', ({ input, expect: expected }) => {
    expect(decide(input.capabilities as Capability[], input.envelope)).toEqual(expected)
  })
})

/** Returns whether the envelope is allowed, or the path of an invalid pattern. */
function decide(capabilities: Capability[], envelope: Subject): boolean | { path: string } {
  try {
    return compileCapabilities(capabilities).allows(envelope).allowed
  } catch (error) {
    if (error instanceof PatternError) return { path: error.path }
    throw error
  }
}

describe('covers', () => {
  test.for(vectors('covers'))('$title', ({ input, expect: expected }) => {
    expect(covers(input.held as Capability[], input.asked as Capability[])).toBe(expected)
  })
})
