import { describe, expect, test } from 'vitest'
import { importsOf, resolveRelative } from './support/imports.js'
import { scan } from './support/source.js'

describe('scan', () => {
  test('replaces strings by their number', () => {
    expect(scan(`a('x', "y's")`)).toEqual({ code: 'a("0", "1")', strings: ['x', "y's"] })
  })

  test('blanks comments, but not what looks like one in a string', () => {
    expect(scan("a // 'x'\nb /* 'y'\n */ c('http://z')")).toEqual({
      code: 'a  \nb   c("0")',
      strings: ['http://z'],
    })
  })

  test('takes a template as one string, substitutions and all', () => {
    const template = 'a §{b ? `c §{d}` : "}"} // \\` e'.replaceAll('§', '$')
    expect(scan(`x(\`${template}\`, 'y')`)).toEqual({ code: 'x("0", "1")', strings: [template, 'y'] })
  })

  test('tells a regular expression from a division', () => {
    expect(scan("f(/['`/]\\//g, 'x')")).toEqual({ code: 'f( , "0")', strings: ['x'] })
    expect(scan("a / b + 'x' / c")).toEqual({ code: 'a / b + "0" / c', strings: ['x'] })
  })
})

describe('importsOf', () => {
  test('finds every form of import', () => {
    const text = [
      "import { a } from 'named'",
      "import type { A } from 'type'",
      "import * as b from 'star'",
      "import {\n  c,\n  d as from,\n} from 'several-lines'",
      "import 'side-effect'",
      "export { e } from 'export'",
      "export * from 'export-star'",
      "const f = await import('dynamic')",
      "type G = import('type-position').G",
      "import h from './data.json' with { type: 'json' }",
    ].join('\n')
    expect(importsOf(scan(text))).toEqual([
      'named',
      'type',
      'star',
      'several-lines',
      'side-effect',
      'export',
      'export-star',
      'dynamic',
      'type-position',
      './data.json',
    ])
  })

  test('finds none where none is', () => {
    const text = [
      "// import { a } from 'comment'",
      'const a = "import b from \'string\'"',
      "const c = Array.from('cd')",
      "const d = { from: 'e', import: 'f' }",
    ].join('\n')
    expect(importsOf(scan(text))).toEqual([])
  })
})

test('a relative specifier is resolved to the module it names', () => {
  expect(resolveRelative('packages/a/src/b/c.ts', '../d.js')).toBe('packages/a/src/d')
})
