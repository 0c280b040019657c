import { describe, expect, test } from 'vitest'
import { measureWidth, truncate, truncateStart, wrapLine } from '../src/render/width.js'
import { type FooterParts, renderFooter } from '../src/view/footer.js'

const now = Date.parse('2026-01-02T03:04:05Z')
const layout = { columns: 60, rows: 24, now, dim: (text: string) => text }
const nobody: FooterParts = {
  heading: 'ana in demo',
  answers: () => [],
  thinkers: [],
  tools: [],
  showsThoughts: true,
  pending: undefined,
  notices: [],
  typed: { text: '', before: '' },
}
const thinker = (agent: string, last = '') => ({
  ...{ agent, since: now - 8000, runs: 1, waiting: 0, last, isVisible: true },
})
const many = Array.from({ length: 30 }, (_, at) => thinker(`agent-${at}`, 'hm'))

describe('the footer', () => {
  test('says who thinks what, which tools run, and what waits, above what is typed', () => {
    const { lines, cursor } = renderFooter(
      {
        ...nobody,
        thinkers: [
          { ...thinker('planner', 'the tests decide'), waiting: 1 },
          { ...thinker('coder', 'a'), runs: 2, waiting: 2, isVisible: false },
        ],
        tools: [
          {
            caller: 'planner',
            call: { tool: 'search', args: 'report', why: 'to know' },
            since: now - 61_000,
            progress: { done: 3, total: 10, message: 'a' },
          },
          {
            caller: 'planner',
            call: { tool: 'read', args: '', why: '' },
            since: now,
            progress: { done: 12 },
          },
        ],
        pending: '⚠ 1 pending',
        typed: { text: 'half a line', before: 'half' },
      },
      layout,
    )
    expect(lines).toEqual([
      `── ana in demo ${'─'.repeat(45)}`,
      'planner  ○ Thinking... 8 s · 1 message waits · the tests de…',
      'coder  ○ Thinking... 8 s · 2 runs · 2 messages wait',
      'planner  ○ search 1 min 1 s 30 % ■■■□□□□□□□ · a report — to…',
      'planner  ○ read 0.1 s 12',
      '⚠ 1 pending',
      '> half a line',
    ])
    expect(cursor).toBe(6)
  })

  const written = (...answers: string[][]) =>
    renderFooter({ ...nobody, answers: () => answers, thinkers: [thinker('planner')] }, layout).lines.slice(
      1,
      -2,
    )

  test('shows how an answer ends that is being written', () => {
    expect(written(['planner: 1', 'planner│ 2', 'planner│ 3', 'planner│ 4', 'planner│ 5'])).toEqual([
      'planner│ 2',
      'planner│ 3',
      'planner│ 4',
      'planner│ 5',
    ])
  })

  test('shows less of each where several are written', () => {
    const both = [
      ['planner: one', 'planner│ two', 'planner│ three'],
      ['coder: four', 'coder│ five', 'coder│ six'],
    ]
    expect(written(...both)).toEqual(['planner│ two', 'planner│ three', 'coder│ five', 'coder│ six'])
    expect(written(...Array.from({ length: 9 }, () => both).flat())).toHaveLength(4)
  })

  test('says nothing of thoughts while they are hidden', () => {
    const { lines } = renderFooter(
      { ...nobody, thinkers: [thinker('planner', 'x')], showsThoughts: false },
      layout,
    )
    expect(lines[1]).toBe('planner  ○ Thinking... 8 s')
  })

  test.for([
    [24, 8],
    [8, 7],
    [4, 3],
    [2, 1],
    [1, 1],
  ])(
    'on a screen of %i rows has %i lines at most, the last of which is what is typed',
    ([rows = 0, maxLines = 0]) => {
      const parts = {
        ...nobody,
        thinkers: many,
        pending: '⚠',
        notices: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
      }
      const { lines } = renderFooter({ ...parts, typed: { text: 'typed', before: '' } }, { ...layout, rows })
      expect(lines).toHaveLength(maxLines)
      expect(lines.at(-1)).toBe('> typed')
    },
  )

  test('says how many more there are', () => {
    const { lines } = renderFooter({ ...nobody, thinkers: many }, layout)
    expect(lines.at(-2)).toBe('… 25 more')
  })

  test.for([80, 40, 20, 12, 5])('at %i columns, no line is wider', (columns) => {
    const wide = '漢字 and a long text that does not fit into any of these by far, whoever looks at it'
    const typed = { text: `${wide}${wide}`, before: wide }
    const parts = {
      ...nobody,
      heading: wide,
      answers: () => [[wide, wide]],
      thinkers: [thinker(wide, wide)],
      pending: wide,
      notices: [wide],
      typed,
    }
    const { lines, cursor } = renderFooter(parts, { ...layout, columns })
    for (const line of lines) expect(measureWidth(line)).toBeLessThanOrEqual(columns)
    expect(cursor).toBeLessThan(columns)
  })
})

describe('widths', () => {
  test('wide characters take two columns, and are never cut in half', () => {
    expect(measureWidth('漢字 a')).toBe(6)
    expect([5, 4, 3, 2, 1, 0].map((columns) => truncate('漢字x', columns))).toEqual([
      '漢字x',
      '漢…',
      '漢…',
      '…',
      '…',
      '',
    ])
    expect([5, 4, 2].map((columns) => truncateStart('x漢字', columns))).toEqual(['x漢字', '…字', '…'])
  })

  test('a line becomes rows, the later ones set in, with their colours', () => {
    expect(wrapLine('one two three', 8, 2)).toEqual(['one', '  two', '  three'])
    expect(wrapLine('onetwothree', 6, 2)).toEqual(['onet', '  woth', '  ree'])
    expect(wrapLine('short', 8, 2)).toEqual(['short'])
    expect(wrapLine('as long as it is', Number.POSITIVE_INFINITY, 2)).toEqual(['as long as it is'])
    const rows = wrapLine('\u001B[36mone two\u001B[0m three', 9, 1)
    expect(rows.map(measureWidth)).toEqual([7, 6])
    expect(rows[0]).toMatch(/^\S+one two/)
  })
})
