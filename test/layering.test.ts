import { isBuiltin } from 'node:module'
import { describe, expect, test } from 'vitest'
import { findCycle, modulePath, resolveRelative, splitSpecifier } from './support/imports.js'
import { packages } from './support/packages.js'

/** Which packages of this repository each may import. Imports run one way; examples may use whatever is public. */
const mayImport: Record<string, readonly string[]> = {
  '@meup/protocol': [],
  '@meup/safety': ['@meup/protocol'],
  '@meup/folds': ['@meup/protocol', '@meup/safety'],
  '@meup/gateway': ['@meup/protocol', '@meup/safety', '@meup/folds'],
  '@meup/jetstream': ['@meup/protocol', '@meup/gateway'],
  '@meup/agent-sdk': ['@meup/protocol', '@meup/safety', '@meup/folds'],
  '@meup/mcp-bridge': ['@meup/agent-sdk', '@meup/protocol', '@meup/folds'],
  '@meup/observer': ['@meup/agent-sdk', '@meup/folds', '@meup/protocol'],
  '@meup/telemetry': ['@meup/protocol', '@meup/folds'],
}
const compositionRoot = 'meup'

/** The SDK's in-process test space runs the real gateway: the one place where the two meet. */
const exceptions = [
  { inside: 'packages/agent-sdk/src/testing/', specifiers: ['@meup/gateway', '@meup/gateway/testing'] },
]

/** Where I/O may not be imported: everywhere but where files, sockets and other programs are met, and in the composition root. */
const noInputOutput = [
  { inside: 'protocol/src/', except: [], allowed: [], forbidden: [] },
  { inside: 'packages/safety/src/', except: [], allowed: [], forbidden: [] },
  { inside: 'packages/folds/src/', except: [], allowed: [], forbidden: [] },
  { inside: 'packages/observer/src/', except: [], allowed: [], forbidden: ['ws'] },
  {
    inside: 'packages/gateway/src/',
    except: ['storage/', 'transport/', 'host/auth/', 'host/metrics.ts', 'index/'],
    allowed: ['node:crypto', 'node:buffer', 'node:assert/strict'],
    forbidden: ['ws', 'better-sqlite3', '@hono/node-server'],
  },
  {
    inside: 'packages/agent-sdk/src/',
    except: ['adapters/', 'testing/', 'index.ts'],
    allowed: [],
    forbidden: ['ws'],
  },
]

const protocolRuntime = ['@sinclair/typebox', 're2js']
const kindLiteral =
  /^(chat|mcp|reasoning|observe|capability|space|participant|system)\.(?!ya?ml$|json$)[a-z-]+$/

const byName = new Map(packages.map((each) => [each.name, each]))
const files = packages.flatMap((owner) => owner.files.map((file) => ({ ...file, owner })))
const imports = files.flatMap((file) => file.imports.map((specifier) => ({ ...file, specifier })))
const relative = imports.filter(({ specifier }) => specifier.startsWith('.'))
const external = imports
  .filter(({ specifier }) => !specifier.startsWith('.'))
  .map((each) => ({ ...each, ...splitSpecifier(each.specifier) }))
const ours = external.filter(({ name }) => byName.has(name))
const show = (found: readonly { path: string; specifier: string }[]) =>
  found.map(({ path, specifier }) => `${path} imports ${specifier}`)

describe('between packages', () => {
  test('every package has its place', () => {
    const known = [...Object.keys(mayImport), compositionRoot]
    const homeless = packages.filter(
      (each) => !each.directory.startsWith('examples/') && !known.includes(each.name),
    )
    expect(packages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['@meup/protocol', compositionRoot]),
    )
    expect(homeless.map(({ name }) => name)).toEqual([])
  })

  test('imports run one way', () => {
    const excepted = (path: string, specifier: string) =>
      exceptions.some((each) => path.startsWith(each.inside) && each.specifiers.includes(specifier))
    const wrong = ours.filter(
      ({ path, specifier, name, owner }) =>
        mayImport[owner.name]?.includes(name) === false && !excepted(path, specifier),
    )
    expect(show(wrong)).toEqual([])
  })

  test('only what a package exports is imported', () => {
    const matches = (exported: string, subpath: string) => {
      const [head = '', tail] = exported.split('*')
      return tail === undefined ? exported === subpath : subpath.startsWith(head) && subpath.endsWith(tail)
    }
    const deep = ours.filter(
      ({ name, subpath }) => !byName.get(name)?.exports.some((exported) => matches(exported, subpath)),
    )
    expect(show(deep)).toEqual([])
  })

  test('no relative import leaves its package', () => {
    const leaving = relative.filter(
      ({ path, specifier, owner }) => !resolveRelative(path, specifier).startsWith(`${owner.directory}/src/`),
    )
    expect(show(leaving)).toEqual([])
  })

  test('every dependency is declared', () => {
    const undeclared = external.filter(
      ({ name, specifier, owner }) => !isBuiltin(specifier) && !owner.dependencies.has(name),
    )
    expect(show(undeclared)).toEqual([])
  })
})

describe('inside packages', () => {
  test('no file imports itself through others, types included', () => {
    const graph = new Map(
      files.map(({ path, imports }) => [
        modulePath(path),
        imports.filter((each) => each.startsWith('.')).map((each) => resolveRelative(path, each)),
      ]),
    )
    expect(findCycle(graph)).toBeUndefined()
  })

  test.for(noInputOutput)('$inside imports no I/O', ({ inside, except, allowed, forbidden }) => {
    const bound = external.filter(
      ({ path }) => path.startsWith(inside) && !except.some((part) => path.startsWith(inside + part)),
    )
    const wrong = bound.filter(
      ({ name, specifier }) =>
        forbidden.includes(name) || (isBuiltin(specifier) && !allowed.includes(specifier)),
    )
    expect(show(wrong)).toEqual([])
  })

  test('the protocol runs on a schema library and a regular expression engine alone', () => {
    const others = external.filter(
      ({ owner, name }) => owner.name === '@meup/protocol' && !protocolRuntime.includes(name),
    )
    expect(show(others)).toEqual([])
  })

  test('what is for tests is imported by tests alone', () => {
    const isTesting = (path: string, directory: string) => path.startsWith(`${directory}/src/testing/`)
    const wrong = relative.filter(
      ({ path, specifier, owner: { directory } }) =>
        isTesting(resolveRelative(path, specifier), directory) && !isTesting(path, directory),
    )
    expect(show(wrong)).toEqual([])
  })
})

describe('every file', () => {
  test('exports by name, but for the index of a package', () => {
    const nameless = files.filter(
      ({ code, path }) =>
        /\bexport\s+default\b|\bas\s+default\b/.test(code) ||
        (!path.endsWith('/index.ts') && /\bexport\s+(type\s+)?\*/.test(code)),
    )
    expect(nameless.map(({ path }) => path)).toEqual([])
  })

  test('takes the kinds of envelopes from the protocol', () => {
    const spelled = files
      .filter(
        ({ path, owner }) => path !== 'protocol/src/kinds.ts' && !owner.directory.startsWith('examples/'),
      )
      .flatMap(({ path, strings }) =>
        strings.filter((each) => kindLiteral.test(each)).map((kind) => `${path}: ${kind}`),
      )
    expect(spelled).toEqual([])
  })
})
