import { colourStyle, createContextFold, type LiveAnswer, plainStyle } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { AgentLines } from '../src/render/agent-lines.js'
import { AnswerFlow } from '../src/render/answer-flow.js'

const draw = (chat: AnyEnvelope, columns: number, style = plainStyle): string[] =>
  new AgentLines({
    style,
    highlight: (name) => name,
    columns: () => columns,
    contexts: createContextFold,
  }).lines(chat)

const chat = (message: string, fields: object = {}): AnyEnvelope =>
  ({
    kind: 'chat',
    id: 'c',
    from: 'bot',
    seq: 1,
    ts: '2026-01-02T03:04:05.678Z',
    correlationId: 'q',
    payload: { message, format: 'markdown' },
    ...fields,
  }) as AnyEnvelope

const writing = (text: string, fields: Partial<LiveAnswer> = {}): LiveAnswer => ({
  from: 'bot',
  trigger: 'q',
  text,
  beginning: 1,
  ...fields,
})

/**
 * Streams an answer in pieces of this length. Returns the rows of the scrollback, and the number printed before the final chat.
 */
function write(text: string, { piece = 7, columns = (): number => 40 } = {}) {
  const flow = new AnswerFlow(draw)
  const rows: string[] = []
  for (let end = piece; end < text.length + piece; end += piece)
    rows.push(...flow.flow([writing(text.slice(0, end))], columns()))
  const early = rows.length
  rows.push(...(flow.end(chat(text), [], columns()) ?? draw(chat(text), columns())))
  return { rows, early }
}

const paragraphs = `# Title

A first paragraph of **some** words, which takes more than one row of a terminal.

- one
- two, which is long enough to be broken once
- three

\`\`\`ts
const a = 1

const b = 2
\`\`\`

| a | b |
|---|---|
| long | x |

The end.`

describe('an answer', () => {
  test.for([1, 7, 30, 200])(
    'that comes in pieces of %i is in the scrollback as its chat would be',
    (piece) => {
      const { rows, early } = write(paragraphs, { piece })
      expect(rows).toEqual(draw(chat(paragraphs), 40))
      // Before the final chat arrives, all rows are in the scrollback except the last one and the empty row above it.
      expect(early).toBe(rows.length - 2)
    },
  )

  test('that is one long line fills its rows while it is written', () => {
    const words = Array.from({ length: 200 }, (_, at) => `word${at}`).join(' ')
    const { rows, early } = write(words)
    expect(rows.join(' ').replaceAll(/bot[│: ] */g, '')).toBe(words)
    expect(early).toBeGreaterThan(rows.length - 8)
    const short = rows.slice(0, -1).filter((row) => row.length < 30)
    expect(short).toEqual([])
  })

  test('that is very long is whole', () => {
    const text = Array.from({ length: 2000 }, (_, at) => `line ${at} of **many**\n\n`).join('')
    const { rows } = write(text, { piece: 500 })
    for (const at of [0, 999, 1999]) expect(rows.filter((row) => row.includes(`line ${at} `))).toHaveLength(1)
    const code = `\`\`\`ts\n${Array.from({ length: 2000 }, (_, at) => `line(${at})`).join('\n')}\n\`\`\``
    const coded = write(code, { piece: 500 }).rows
    expect(coded.filter((row) => /line\(\d+\)$/.test(row))).toHaveLength(2000)
    expect(coded.filter((row) => row.includes('```'))).toEqual([])
  })

  test('has each word once, whatever becomes of the width of the terminal', () => {
    const words = Array.from({ length: 80 }, (_, at) => `word${at}${at % 20 === 19 ? '.\n\n' : ' '}`).join('')
    let columns = 80
    const { rows } = write(words, { columns: () => (columns = columns === 80 ? 30 : 80) })
    const text = rows.join('\n')
    for (let at = 0; at < 80; at++)
      expect(text.match(new RegExp(`word${at}\\b`, 'g')), `${at}`).toHaveLength(1)
  })

  test('that its agent begins anew says that the first one was none', () => {
    const flow = new AnswerFlow(draw)
    expect(flow.flow([writing('I look\nit up')], 40)).toEqual(['bot: I look'])
    expect(flow.flow([writing('I')], 40)).toEqual([])
    expect(flow.flow([writing('It is so.\nWell')], 40)).toEqual([
      'bot│ (that was not the answer)',
      'bot: It is so.',
    ])
    expect(flow.end(chat('No.'), [], 40)).toEqual(['bot│ (that was not the answer)', 'bot: No.'])
  })

  test('waits while an older one is written, and shows how it ends above the prompt meanwhile', () => {
    const flow = new AnswerFlow(draw)
    const both = [writing('one\ntwo\nthree'), writing('four\nfive', { from: 'coder' })]
    expect(flow.flow(both, 40)).toEqual(['bot: one', 'bot│ two'])
    expect(both.map((each) => flow.tail(each, 40))).toEqual([['bot│ three'], ['coder: four', 'coder│ five']])
    expect(flow.end(chat('one\ntwo\nthree'), both.slice(1), 40)).toEqual(['bot│ three'])
    expect(flow.flow(both.slice(1), 40)).toEqual(['coder: four'])
  })

  test('is not ended by a question about it to somebody else', () => {
    const flow = new AnswerFlow(draw)
    const answers = [writing('one\ntwo')]
    flow.flow(answers, 40)
    expect(flow.end(chat('What is two?', { to: ['coder'] }), answers, 40)).toBeUndefined()
    expect(flow.end(chat('one\ntwo'), [], 40)).toEqual(['bot│ two'])
  })

  test('says who alone reads it, and passes for nobody else', () => {
    const flow = new AnswerFlow(draw)
    expect(flow.flow([writing('one\nana: yes\n\u001B[2J> no\n', { to: ['ana'] })], 40)).toEqual([
      'bot → ana (private): one',
      'bot│ ana: yes',
      'bot│ [2J> no',
    ])
  })

  test('shows no control characters of what is written above the prompt', () => {
    const flow = new AnswerFlow((each, columns) => draw(each, columns, colourStyle))
    const text = '**\u001B[2J\u202Ehello**\r\u0007\n⚠ 1 pending\n> yes'
    expect(flow.tail(writing(text), 60)).toEqual(['bot: [2Jhello', 'bot│ ⚠ 1 pending', 'bot│ ▏ yes'])
    const long = `${'It goes on. '.repeat(10_000)}the end`
    expect(flow.tail(writing(long), 60).at(-1)).toMatch(/^bot│ .*the end$/)
  })
})
