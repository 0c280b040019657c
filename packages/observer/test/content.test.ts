import { createComparison, describeChange, resultParts, textPart, valuePart } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'

const text = (value: string) => ({ result: { content: [{ type: 'text', text: value }] } })

describe('what a result is shown as:', () => {
  const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new'
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
  const rows = [
    { name: 'a', size: 1 },
    { name: 'b', size: null },
  ]
  test.for<[what: string, payload: object, args: unknown, expected: object[]]>([
    ['text', text('it is 8080'), {}, [{ type: 'text', text: 'it is 8080' }]],
    [
      'code, by the file that was read',
      text('let a'),
      { path: 'src/x.ts' },
      [{ type: 'text', language: 'typescript' }],
    ],
    ['JSON', text('{"a":{"b":1}}'), {}, [{ type: 'json', value: { a: { b: 1 } } }]],
    ['a number', text('42'), {}, [{ type: 'text', text: '42' }]],
    [
      'a table',
      text(JSON.stringify(rows)),
      {},
      [
        {
          type: 'table',
          columns: ['name', 'size'],
          rows: [
            ['a', '1'],
            ['b', ''],
          ],
        },
      ],
    ],
    ['a diff', text(diff), {}, [{ type: 'diff' }]],
    [
      'an image',
      { result: { content: [image] } },
      {},
      [{ type: 'media', mimeType: 'image/png', data: 'aGk=' }],
    ],
    [
      'a link',
      { result: { content: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }] } },
      {},
      [{ type: 'link', name: 'a' }],
    ],
    [
      'a file',
      { result: { contents: [], content: [{ type: 'resource', resource: { uri: 'a.py', text: 'x' } }] } },
      {},
      [{ type: 'text', language: 'python' }, { type: 'json' }],
    ],
    [
      'an error',
      { error: { code: 1, message: 'no such file', data: { at: 3 } } },
      {},
      [{ type: 'text', text: 'no such file' }, { type: 'json' }],
    ],
    [
      'structure, once',
      { result: { content: [{ type: 'text', text: '{"a": 1}' }], structuredContent: { a: 1 } } },
      {},
      [{ type: 'json', value: { a: 1 } }],
    ],
    ['content that is no list', { result: { content: 'x' } }, {}, [{ type: 'json', value: 'x' }]],
    ['anything else', { result: [1, 2] }, {}, [{ type: 'json', value: [1, 2] }]],
    ['nothing', { result: {} }, {}, []],
  ])('%s', ([, payload, args, expected]) => {
    expect(resultParts(payload as Record<string, unknown>, args)).toMatchObject(expected)
  })

  test('nothing invisible is left in it', () => {
    expect(textPart('a\u202Eb\u0007')).toEqual({ type: 'text', text: 'ab' })
    expect(valuePart([{ a: 'x\u202E' }, { a: 'y' }])).toMatchObject({ rows: [['x'], ['y']] })
  })
})

const change = (name: string, args: object) =>
  describeChange({ method: 'tools/call', params: { name, arguments: args } })

describe('what a call changes:', () => {
  test.for<[tool: string, args: object, sentence: string | undefined]>([
    ['edit_file', { path: 'report.txt', edits: [{ oldText: 'a', newText: 'b' }] }, 'edit report.txt, 1 line'],
    ['Edit', { file_path: 'x.ts', old_string: 'a\nb', new_string: 'a\nc\nd' }, 'edit x.ts, 2 lines'],
    ['write_file', { path: 'new.txt', content: 'one\ntwo\n' }, 'write new.txt, 2 lines'],
    ['delete_file', { path: 'a' }, 'delete a'],
    ['write_file', { path: 'a', content: '' }, 'write a, empty'],
    ['move_file', { path: 'notes.txt', source: 'secrets.env', destination: 'public' }, undefined],
    ['write_file', { path: 'a', content: 'b', text: 'c' }, undefined],
    ['edit_file', { path: 'a', edits: [{ oldText: 'a', newText: 'b' }], content: 'c' }, undefined],
    ['move_file', { source: 'a', destination: 'b' }, 'move a to b'],
    ['apply', { path: 'a', patch: '@@ -1 +1 @@\n-a\n+b\n' }, 'apply a, 1 line'],
    ['read_text_file', { path: 'a' }, undefined],
    ['send_mail', { text: 'hello' }, undefined],
  ])('%s', ([tool, args, sentence]) => {
    expect(change(tool, args)?.sentence).toBe(sentence)
  })

  test.for<[what: string, params: object]>([
    ['another field', { arguments: { path: 'a', content: 'c', mode: 'all' } }],
    ['something beside the arguments', { arguments: { path: 'a', content: 'c' }, _meta: { as: 'root' } }],
    [
      'a path that is cut',
      { arguments: { path: `reports/${'x/'.repeat(200)}../etc/cron.d/a`, content: 'c' } },
    ],
    ['a path of two lines', { arguments: { path: 'a\nb', content: 'c' } }],
    ['something invisible', { arguments: { path: 'a', content: 'c\u202E' } }],
    ['a letter that shows nothing', { arguments: { path: 'a', content: 'const { a,\u3164} = b' } }],
    ['a carriage return', { arguments: { path: 'a', content: 'safe\rrm' } }],
    ['a patch, which may name other files', { arguments: { path: 'a', patch: '@@ -1 +1 @@\n-a\n+b\n' } }],
  ])('what is not shown of the request is said: %s', ([, params]) => {
    expect(describeChange({ method: 'tools/call', params: { name: 'write_file', ...params } })).toMatchObject(
      { isAll: false },
    )
    expect(change('write_file', { path: 'a', content: 'c\n\td' })).toMatchObject({ isAll: true })
  })

  test('of a diff only what its hunks count is a change', () => {
    const patch = '*** Delete File: /etc/x\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- old\n+++ i\n same\nHello'
    expect(textPart(patch).type).toBe('text')
    const { lines = [] } = change('apply', { path: 'a', patch: patch.slice(patch.indexOf('--- a')) }) ?? {}
    expect(lines.map(({ sign, text }) => `${sign}|${text}`)).toEqual([
      '@|--- a',
      '@|+++ a',
      '@|@@ -1,2 +1,2 @@',
      '-|-- old',
      '+|++ i',
      ' |same',
      '@|Hello',
    ])
  })

  test.for<[what: string, edits: unknown[]]>([
    ['no edit', []],
    ['a text', ['x']],
    ['an edit with more', [{ oldText: 'a', newText: 'b', all: true }]],
    ['an edit that only takes out', [{ oldText: 'a' }]],
  ])('edits that are not only replaced texts are no change to show: %s', ([, edits]) => {
    expect(change('edit_file', { path: 'a', edits })).toBeUndefined()
  })

  test('a tool that does more than its verb keeps its name', () => {
    const args = { path: 'a', content: 'b' }
    expect(change('write_and_push', args)?.sentence).toBe('write_and_push a, 1 line')
    expect(change('write_file', { path: 'a\nb', content: 'b' })?.sentence).toBe('write a b, 1 line')
  })

  test('only lines near a change are shown', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')
    const lines = createComparison()(before, before.replace('line 15', 'line fifteen'))
    expect(lines.map(({ sign }) => sign).join('')).toBe('@   -+   @')
    expect(lines.filter(({ sign }) => sign === '+')).toEqual([{ sign: '+', text: 'line fifteen', line: 16 }])
  })

  test('texts without an end are compared in time', () => {
    const many = (seed: number) => Array.from({ length: 20_000 }, (_, at) => `${at * seed}`).join('\n')
    expect(createComparison()(many(3), many(7)).length).toBeGreaterThan(20_000)
  })
})

describe('what coding agents change', () => {
  const diffs = [
    { path: 'a.txt', oldText: 'one\n', newText: 'two\n' },
    { path: 'b.txt', oldText: '', newText: 'new\n' },
  ]
  const lines = [
    { sign: '@', text: 'a.txt' },
    { sign: '-', text: 'one', line: 1 },
    { sign: '+', text: 'two', line: 1 },
    { sign: '@', text: 'b.txt' },
    { sign: '+', text: 'new', line: 1 },
  ]

  test('is shown file by file before it is decided', () => {
    const params = { name: 'edit', arguments: { diffs } }
    expect(describeChange({ method: 'tools/call', params })).toEqual({
      sentence: 'edit 2 files, 2 lines',
      verb: 'edit',
      name: '2 files',
      lines,
      isAll: true,
    })
    const more = { name: 'edit', arguments: { diffs: diffs.slice(0, 1), force: true } }
    expect(describeChange({ method: 'tools/call', params: more })).toMatchObject({
      sentence: 'edit a.txt, 1 line',
      isAll: false,
    })
  })

  test('is a deletion where there is no file any more', () => {
    const gone = { path: 'a.txt', oldText: 'one\n', newText: '', deleted: true }
    const params = (...diffs: object[]) => ({ name: 'edit', arguments: { diffs } })
    expect(describeChange({ method: 'tools/call', params: params(gone) })).toEqual({
      sentence: 'delete a.txt, 1 line',
      verb: 'delete',
      name: 'a.txt',
      lines: [
        { sign: '@', text: 'a.txt (deleted)' },
        { sign: '-', text: 'one', line: 1 },
      ],
      isAll: true,
    })
    expect(describeChange({ method: 'tools/call', params: params(gone, ...diffs) })?.sentence).toBe(
      'edit 3 files, 2 lines',
    )
    const kept = { ...gone, newText: 'two' }
    expect(describeChange({ method: 'tools/call', params: params(kept) })).toBeUndefined()
  })

  test('is shown in the result', () => {
    const result = {
      content: [{ type: 'text', text: 'Edited.' }],
      structuredContent: { status: 'completed', diffs },
    }
    expect(resultParts({ result }, {})).toEqual([
      { type: 'text', text: 'Edited.' },
      { type: 'diff', lines },
      { type: 'json', value: { status: 'completed' } },
    ])
  })
})
