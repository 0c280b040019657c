import { compareLines, describeChange, resultParts, textPart, valuePart } from '@meup/observer/model'
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

describe('what a call changes:', () => {
  test.for<[tool: string, args: object, sentence: string | undefined]>([
    ['edit_file', { path: 'report.txt', edits: [{ oldText: 'a', newText: 'b' }] }, 'edit report.txt, 1 line'],
    ['Edit', { file_path: 'x.ts', old_string: 'a\nb', new_string: 'a\nc\nd' }, 'edit x.ts, 2 lines'],
    ['write_file', { path: 'new.txt', content: 'one\ntwo\n' }, 'write new.txt, 2 lines'],
    ['delete_file', { path: 'a' }, 'delete a'],
    ['move_file', { source: 'a', destination: 'b' }, 'move a to b'],
    ['apply', { path: 'a', patch: '@@ -1 +1 @@\n-a\n+b\n' }, 'apply a, 1 line'],
    ['read_text_file', { path: 'a' }, undefined],
    ['send_mail', { text: 'hello' }, undefined],
  ])('%s', ([tool, args, sentence]) => {
    expect(describeChange(tool, args)?.sentence).toBe(sentence)
  })

  test.for<[what: string, args: object]>([
    ['two contents', { path: 'a', edits: [{ oldText: 'a', newText: 'b' }], content: 'c' }],
    ['another path', { path: 'a', file_path: 'b', content: 'c' }],
    ['another field', { path: 'a', content: 'c', mode: 'all' }],
    ['something invisible', { path: 'a', content: 'c\u202E' }],
    ['a carriage return', { path: 'a', content: 'safe\rrm' }],
  ])('what is not shown of the arguments is said: %s', ([, args]) => {
    expect(describeChange('write_file', args)).toMatchObject({ isAll: false })
    expect(describeChange('write_file', { path: 'a', content: 'c' })).toMatchObject({ isAll: true })
  })

  test.for<[what: string, edits: unknown[]]>([
    ['no edit', []],
    ['a text', ['x']],
    ['an edit with more', [{ oldText: 'a', newText: 'b', all: true }]],
    ['an edit that only takes out', [{ oldText: 'a' }]],
  ])('edits that are not only replaced texts are no change to show: %s', ([, edits]) => {
    expect(describeChange('edit_file', { path: 'a', edits })).toBeUndefined()
  })

  test('a tool that does more than its verb keeps its name', () => {
    const args = { path: 'a', content: 'b' }
    expect(describeChange('write_and_push', args)?.sentence).toBe('write_and_push a, 1 line')
    expect(describeChange('write_file', { path: 'a\nb', content: 'b' })?.sentence).toBe('write a b, 1 line')
  })

  test('only lines near a change are shown', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')
    const lines = compareLines(before, before.replace('line 15', 'line fifteen'))
    expect(lines.map(({ sign }) => sign).join('')).toBe('@   -+   @')
    expect(lines.filter(({ sign }) => sign === '+')).toEqual([{ sign: '+', text: 'line fifteen' }])
  })

  test('texts without an end are compared in time', () => {
    const many = (seed: number) => Array.from({ length: 20_000 }, (_, at) => `${at * seed}`).join('\n')
    expect(compareLines(many(3), many(7)).length).toBeGreaterThan(20_000)
  })
})
