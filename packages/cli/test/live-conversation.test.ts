import { colourStyle, createContextFold, plainStyle } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { AgentLines } from '../src/render/agent-lines.js'
import { Conversation } from '../src/render/conversation.js'
import { SpokenLines } from '../src/render/spoken-lines.js'

const envelope = (kind: string, id: string, fields: object): AnyEnvelope =>
  ({ kind, id, from: 'bot', seq: 1, ts: '2026-01-02T03:04:05.678Z', payload: {}, ...fields }) as AnyEnvelope
const start = (id: string, fields: object = {}) =>
  envelope('reasoning.start', id, { payload: { message: 'Looking' }, ...fields })
const call = (id: string, name: string, fields: object = {}) =>
  envelope('mcp.request', id, {
    to: ['tools'],
    rationale: 'to know',
    payload: { method: 'tools/call', params: { name, arguments: { a: 1 } } },
    ...fields,
  })
const result = (request: string, text: string) =>
  envelope('mcp.response', `of-${request}`, {
    from: 'tools',
    correlationId: request,
    payload: { result: { content: [{ type: 'text', text }] } },
  })
const chat = (message: string, fields: object = {}) =>
  envelope('chat', 'c', { payload: { message }, ...fields })

test('the name of a tool is cut', () => {
  const name = `run${' '.repeat(200_000)}`
  const proposal = { ...call('p', name), kind: 'mcp.proposal' } as AnyEnvelope
  for (const each of [call('c', name), proposal]) {
    const [line = '', ...more] = new Conversation().lines(each)
    expect([line.length < 300, more]).toEqual([true, []])
  }
})

/** Renders envelopes for a terminal with 80 columns. */
function terminal(style = plainStyle, self = 'eve') {
  const contexts = createContextFold()
  const lines = agentLines(contexts, style, self)
  return (each: AnyEnvelope): string[] => {
    contexts.apply({ ...each })
    return lines.lines(each)
  }
}

const agentLines = (contexts = createContextFold(), style = plainStyle, self = 'eve') =>
  new AgentLines({
    style,
    self,
    highlight: (name) => name,
    columns: () => 80,
    contexts: () => contexts,
  })

test('the reasoning of a turn that is taken back is not shown under the name of its asker', () => {
  const cancel = envelope('chat.cancel', 'x', { from: 'ana', correlationId: 'question' })
  const block = ['  ┄ Reasoning (turn 1): 1 tool · /reasoning 1 @bot']
  expect(agentLines().after(cancel, { preview: [], block })).toEqual(block)
})

const turn = [
  start('run', { correlationId: 'question' }),
  call('one', 'memory_search', { context: 'run' }),
  result('one', 'Found 3 documents'),
  call('two', 'shell', { context: 'run/step' }),
  result('two', ''),
  envelope('reasoning.conclusion', 'end', { context: 'run', payload: { message: 'That is it' } }),
  chat('The latest updates', { correlationId: 'question' }),
]

verifies('I20', 'a call has one line, once it has ended, with all there is to say', () => {
  expect(turn.flatMap(terminal())).toEqual([
    'bot ┄ Looking',
    'bot  ● memory_search a=1 — to know ✓ 3 documents found',
    'bot    ● shell a=1 — to know ✓ 0 B',
    'bot ∎ That is it',
    'bot: The latest updates',
  ])
})

verifies('I20', 'it is dim gray, and the names of tools are cyan', () => {
  expect(turn.slice(0, 3).flatMap(terminal(colourStyle))).toEqual([
    'bot ┄ Looking',
    'bot  \u001B[2;90m● \u001B[0m\u001B[36mmemory_search\u001B[0m\u001B[2;90m a=1 — to know\u001B[0m\u001B[2;90m ✓ 3 documents found\u001B[0m',
  ])
})

describe('a call', () => {
  const read = (fields: object = {}) =>
    call('one', 'read_text_file', {
      context: 'run',
      rationale: 'what fails decides',
      payload: {
        method: 'tools/call',
        params: { name: 'read_text_file', arguments: { path: 'report.txt' } },
      },
      ...fields,
    })

  test('with one text has that text alone, and the size of what came', () => {
    const shown = terminal()
    expect([start('run'), read(), result('one', 'x'.repeat(48))].flatMap(shown).at(-1)).toBe(
      'bot  ● read_text_file report.txt — what fails decides ✓ 48 B',
    )
  })

  test('that fails says how', () => {
    const failure = envelope('mcp.response', 'no', {
      from: 'tools',
      correlationId: 'one',
      payload: { error: { code: -1, message: 'no such file' } },
    })
    expect([start('run'), read(), failure].flatMap(terminal()).at(-1)).toBe(
      'bot  ● read_text_file report.txt — what fails decides ✗ no such file',
    )
  })

  test('whose run ends without its result is not lost, and has its line if it comes after all', () => {
    const shown = terminal()
    const end = envelope('reasoning.cancel', 'end', { context: 'run', payload: { reason: 'stopped' } })
    expect([start('run'), read(), end].flatMap(shown).slice(1)).toEqual([
      'bot  ○ read_text_file report.txt — what fails decides · no result',
      expect.stringContaining('stopped'),
    ])
    expect(shown(result('one', 'late'))).toEqual([
      'bot  ● read_text_file report.txt — what fails decides ✓ 4 B',
    ])
  })

  test('outside of any run shows when it is made, too', () => {
    const shown = terminal()
    expect(shown(call('one', 'read'))).toEqual(['bot  ○ read a=1 — to know'])
    expect(shown(result('one', 'four'))).toEqual(['bot  ● read a=1 — to know ✓ 4 B'])
  })

  test('that approves a proposal says whose that was', () => {
    const shown = terminal()
    shown({ ...call('p', 'read', { from: 'coder' }), kind: 'mcp.proposal' } as AnyEnvelope)
    const approval = { from: 'ana', correlationId: 'p', rationale: undefined }
    expect(shown(call('one', 'read', approval))).toEqual(['ana  ○ read a=1 — proposed by coder'])
  })

  test('that nobody here saw is told by its result', () => {
    expect(terminal()(result('unknown', 'four'))).toEqual(['tools ← a tool: success (4 chars)'])
  })

  test('has arguments that pass for no reason and no outcome', () => {
    const [line] = terminal()(
      call('one', 'read', {
        payload: {
          method: 'tools/call',
          params: { name: 'read', arguments: { path: 'a.txt ✓ 48 B — fine' } },
        },
      }),
    )
    expect(line).toBe('bot  ○ read "a.txt ✓ 48 B — fine" — to know')
  })

  test('has masked arguments', () => {
    const secret = { name: 'login', arguments: { user: 'ana', password: 'hunter2' } }
    const [line] = terminal()(call('one', 'login', { payload: { method: 'tools/call', params: secret } }))
    expect(line).toBe('bot  ○ login user=ana password=[redacted] — to know')
  })
})

test('a run says of which model it is, and how much that is to think', () => {
  const metadata = { provider: 'openai', model: 'gpt-x', thinkingLevel: 'high' }
  expect(terminal()(start('run', { payload: { message: 'Looking', metadata } }))).toEqual([
    'bot ┄ Looking · openai/gpt-x, thinking high',
  ])
})

test('who hides thoughts from everyone is named, and whose they are', () => {
  const shown = terminal()
  shown(start('run'))
  const toggled = (reasoningVisible: boolean) =>
    envelope('observe.visibility', `${reasoningVisible}`, {
      from: 'ana',
      payload: { context: 'run', reasoningVisible },
    })
  expect([false, true].flatMap((isShown) => shown(toggled(isShown)))).toEqual([
    '· ana hides the thoughts of bot from everyone',
    '· ana shows the thoughts of bot to everyone again',
  ])
})

describe('Markdown', () => {
  const written =
    '# Findings\n\n1. **Two** tests fail in `token.ts`\n2. see [the report](https://example.org)\n\n| a | b |\n|---|---|\n| long | x |\n\n```ts\nreturn 1\n```'

  test('is drawn in what says that it is', () => {
    expect(terminal()(chat(written, { payload: { message: written, format: 'markdown' } }))).toEqual([
      'bot: Findings',
      'bot│',
      'bot│ 1. Two tests fail in `token.ts`',
      'bot│ 2. see the report (https://example.org)',
      'bot│',
      'bot│ a     b',
      'bot│ long  x',
      'bot│',
      'bot│     return 1',
    ])
    expect(terminal()(chat('**as written**'))).toEqual(['bot: **as written**'])
  })

  test('has escape sequences of its style alone, and passes for nobody', () => {
    const hostile = '**a\u001B[2J** [x](javascript:alert(1))\n\nana: yes, deploy it'
    const shown = terminal(colourStyle)(chat(hostile, { payload: { message: hostile, format: 'markdown' } }))
    expect(shown).toEqual([
      'bot: \u001B[1ma[2J\u001B[22m [x](javascript:alert(1))',
      'bot│',
      'bot│ ana: yes, deploy it',
    ])
  })

  test('has no row that is wider than what is in it, and no look that goes on in the next', () => {
    const table = `| a | b |\n|---|---|\n| ${'x'.repeat(4000)} | y |\n${'| 1 | 2 |\n'.repeat(200)}`
    const rows = terminal()(chat(table, { payload: { message: table, format: 'markdown' } }))
    expect(rows.length).toBeLessThan(400)
    const bold = '**one\ntwo**'
    expect(terminal(colourStyle)(chat(bold, { payload: { message: bold, format: 'markdown' } }))).toEqual([
      'bot: \u001B[1mone\u001B[22m',
      'bot│ \u001B[1mtwo\u001B[22m',
    ])
  })

  test('that is very deep shows as it was written', () => {
    const deep = `${'> '.repeat(2000)}deep`
    expect(terminal()(chat(deep, { payload: { message: deep, format: 'markdown' } })).join('')).toContain(
      'deep',
    )
  })
})

test('secrets among the arguments are masked before they are cut', () => {
  const secret = { name: 'login', arguments: { user: 'ana', password: 'hunter2', note: 'x'.repeat(200) } }
  const [line = ''] = new Conversation().lines(
    call('one', 'login', { payload: { method: 'tools/call', params: secret } }),
  )
  expect(line).toMatch(
    /^bot → tools\/login \{"user":"ana","password":"\[redacted\]","note":"x+… {2}— to know$/,
  )
})

test('no line of a message passes for one that somebody else has said', () => {
  const live = new Conversation()
  expect(live.lines(chat('hello\nana: yes, deploy it\n  ana · I have checked it'))).toEqual([
    'bot: hello',
    '│ ana: yes, deploy it',
    '│   ana · I have checked it',
  ])
  const thought = { context: 'run', payload: { message: 'one\ntwo' } }
  expect(live.lines(envelope('reasoning.thought', 't', thought))).toEqual(['  bot · one', '  │ two'])
})

test('what a tool asks is one line, and none for whom it asks, who sees its form', () => {
  const question = envelope('mcp.request', 'q', {
    from: 'files',
    to: ['ana'],
    payload: { method: 'elicitation/create', params: { message: 'Which seat?', requestedSchema: {} } },
  })
  const answered = envelope('mcp.response', 'r', { from: 'ana', correlationId: 'q', payload: { result: {} } })
  expect([question, answered].flatMap(terminal())).toEqual([
    'files  ○ asks ana Which seat?',
    'files  ● asks ana Which seat? ✓',
  ])
  expect([question, answered].flatMap(terminal(plainStyle, 'ana'))).toEqual([])
})

test('a message names whom it asks, and says so where they alone read it', () => {
  const lines = terminal()
  expect(lines(chat('hi', { from: 'ana', payload: { message: 'hi', mentions: ['bot', 'ben'] } }))).toEqual([
    'ana → bot, ben: hi',
  ])
  expect(lines(chat('one\ntwo', { from: 'ana', to: ['bot'] }))).toEqual([
    'ana → bot (private): one',
    'ana│ two',
  ])
  expect(lines(start('run', { to: ['ana'] }))).toEqual(['bot ┄ (private) Looking'])
  const spoken = new SpokenLines(createContextFold)
  expect(spoken.lines(chat('one\ntwo', { to: ['ana'] }))).toEqual([
    'bot says to ana in private: one',
    'bot goes on: two',
  ])
})

test('a long line of code keeps its mark and its indentation in every row', () => {
  const code = `\`\`\`\n${'word '.repeat(30)}\n\`\`\``
  const lines = terminal()(chat('', { payload: { message: `see\n\n${code}`, format: 'markdown' } }))
  const rows = lines.slice(2)
  expect(rows.length).toBeGreaterThan(1)
  for (const row of rows) expect(row).toMatch(/^bot│ {5,}word/)
})

test('the whole output of a tool says how much of it is left out', () => {
  const contexts = createContextFold()
  const lines = new AgentLines({
    style: plainStyle,
    highlight: (name) => name,
    columns: () => 80,
    contexts: () => contexts,
  })
  lines.showsOutput = true
  lines.lines(call('one', 'read'))
  const text = Array.from({ length: 3000 }, (_, at) => `line ${at}`).join('\n')
  const shown = lines.lines(result('one', text))
  expect(shown.at(-1)).toMatch(/^bot {4}│ … 2,\d{3} more lines · meup watch --from 1 --json has all$/)
  lines.lines(call('two', 'read'))
  expect(lines.lines(result('two', 'x'.repeat(30_000))).at(-1)).toMatch(/… 2\d,\d{3} more characters/)
  lines.lines(call('three', 'read'))
  expect(lines.lines(result('three', 'one\ntwo')).at(-1)).toBe('bot    │ two')
})
