import { expect, test } from 'vitest'
import { getResultText } from '../src/lib/result-text.js'

const text = (value: string) => ({ type: 'text', text: value })

test.for<[name: string, result: Readonly<Record<string, unknown>>, expected: string]>([
  ['text blocks, a line each', { content: [text('a'), text('b')] }, 'a\nb'],
  ['the text before structured content', { content: [text('a')], structuredContent: { b: 1 } }, 'a'],
  ['structured content without a text', { content: [], structuredContent: { b: [1] } }, '{"b":[1]}'],
  ['structured content beside a blank text', { content: [text(' ')], structuredContent: [1] }, '[1]'],
  ['nothing of blank texts', { content: [text('')], structuredContent: { content: '' } }, ''],
  [
    'structured content with a value',
    { structuredContent: { content: '', total: 0 } },
    '{"content":"","total":0}',
  ],
  ['structured content alone', { structuredContent: 0 }, '0'],
  ['an embedded text', { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'c' } }] }, 'c'],
  [
    'a line for what is no text',
    {
      content: [
        { type: 'image', mimeType: 'image/png', data: 'AA==' },
        { type: 'resource_link', uri: 'a:b' },
        {},
      ],
    },
    '[image image/png; --json prints it]\n[resource_link a:b; --json prints it]\n[a block without a type; --json prints it]',
  ],
  ['nothing', { content: [null, 1, 'x'] }, ''],
  ['nothing of null', { content: null, structuredContent: null }, ''],
])('a result is printed as %s', ([, result, expected]) => {
  expect(getResultText(result)).toBe(expected)
})
