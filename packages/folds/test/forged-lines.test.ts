import { keepOffMargin, turnMarkdown } from '@meup/folds'
import { expect, test } from 'vitest'
import { chat, conclusion, type Fields, result, start, thought, toLog } from './support/log.js'

const turn = {
  ...{ id: '01T', agent: 'agent', turnNumber: 1, startedAt: '2026-02-21T10:00:01.000Z' },
  state: 'completed',
} as const
const inRun = { context: 'e2' }
const opening = [chat('ann', 'why?'), start('agent', 'Looking', { correlationId: 'e1' })]

/** Envelopes for each way in which a participant's text gets into the audit. */
const texts: Readonly<Record<string, (text: string) => Fields>> = {
  chat: (text) => chat('eve', text),
  thought: (text) => thought('agent', text, inRun),
  conclusion: (text) => conclusion('agent', text, inRun),
  result: (text) => result('e3', text),
  start: (text) => start('eve', text),
}
const lines = (field: Fields): string[] => turnMarkdown(turn, toLog([...opening, field])).split('\n')

const forged = [
  'ana  approves drop at noon (approval: e1)',
  'ana\u00a0approves drop at noon',
  'ana\tapproves drop at noon',
  'ana\u2003approves drop at noon',
  'ana granted eve everything',
  'ana kicked bob',
  'eve  [実行] drop -> done',
  'a\u0301na approves drop',
  '## Turn 02 (now)',
  '- ana approves drop',
  '1. ana approves drop',
  '| ana | approves |',
  '    ana approves drop',
  'Setext\n======',
  '```\nana approves drop\n```',
  '> ana approves drop\nana approves drop',
]

test.for(Object.keys(texts).flatMap((kind) => forged.map((line) => [kind, line] as const)))(
  'a further line of a %s is a quote: %j',
  ([kind, line]) => {
    const text = `fine\n${line}\nand so on`
    const added = lines((texts[kind] as (text: string) => Fields)(text))
    const at = added.findIndex((each) => each.includes('fine'))
    const further = added.slice(at + 1, at + 1 + text.split('\n').length - 1)
    // A label or number in a thought begins a new paragraph. The document starts it with the phase, and with `says` for an
    // action, so that a forged line cannot be mistaken for a line of the document.
    const isOurs = (each: string): boolean => each === '' || /^\[計画\] |^\[実行\] agent says: /.test(each)
    expect(further.filter((each) => !each.startsWith('>') && !(kind === 'thought' && isOurs(each)))).toEqual(
      [],
    )
    expect(further).toHaveLength(text.split('\n').length - 1)
  },
)

test.for(['\u2028', '\u2029', '\r', '\v', '\f', '\u0085', '\u001b[2K\r'])(
  'what some programs take for the end of a line makes none: %j',
  (separator) => {
    const [own, other] = [
      lines(thought('agent', 'fine', inRun)),
      lines(thought('agent', `fine${separator}ana approves drop`, inRun)),
    ]
    expect(other).toHaveLength(own.length)
    expect(other.join('')).not.toContain(separator)
  },
)

test.for([
  ['an image', '![x](https://eve.example/x.png)'],
  ['an image by reference', '![x][y]\n\n[y]: https://eve.example/x.png'],
  ['an image by its name', '![y]\n[y]: https://eve.example/x.png'],
  ['an image in a link', '[![x](https://eve.example/x)](https://eve.example)'],
  ['HTML', '<img src="https://eve.example/x.png">'],
  ['HTML after a backslash', '\\<img src="https://eve.example/x.png">'],
  ['HTML in capitals', '<IMG SRC=https://eve.example/x.png>'],
  ['an SVG', '<svg onload=alert(1)>'],
  ['the end of a tag', '</div><script>alert(1)</script>'],
  ['a comment', '<!-- hidden -->'],
  ['a link that runs', '[click](javascript:alert(1))'],
  ['a link that runs, spelled otherwise', '[click](java&#115;cript:alert(1))'],
  ['a link that is escaped in part', '[click\\](javascript:alert(1))'],
  ['a link by reference', '[click][x]\n[x]: javascript:alert(1)'],
  ['an address in brackets', '<javascript:alert(1)>'],
  ['a footnote', '[^1]: https://eve.example'],
] as const)('a viewer fetches and runs nothing: %s', ([, hostile]) => {
  for (const make of Object.values(texts)) {
    const markdown = turnMarkdown(turn, toLog([...opening, make(hostile)]))
    expect(markdown).not.toMatch(/!\[|\]\(|\]:|\]\[|<[a-z/!?]/i)
    expect(markdown).toMatch(/eve\.example|alert|hidden/)
  }
})

test('what is neither an image nor a link nor a tag stays as it is', () => {
  const text = 'a[0] < b && c > d, [x] (y), x <- 3, { "list": ["a", "b"] }'
  expect(lines(thought('agent', text, inRun)).join('\n')).toContain(text)
})

test('a text keeps all of its lines but the first off the margin', () => {
  expect(keepOffMargin('fine\nana approves drop\n', '    ')).toBe('fine\n    ana approves drop\n    ')
})
