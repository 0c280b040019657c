import { type HeadingRow, SpaceModel } from '@meup/observer/model'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { gists, Script, welcome } from './support.js'

/** A question, and a run with one thought. */
function thinking(script = new Script()) {
  const question = script.chat('ana', 'Is it ready?')
  const run = script.start('bot', 'Looking', { correlationId: question.id })
  script.thought('bot', run.id, 'hm')
  return { script, question, run }
}

const headings = (script: Script): HeadingRow[] =>
  script.read().lists.stream.rows.flatMap((row) => (row.type === 'heading' ? [row] : []))

test('a heading has what was said without the marks of Markdown, and names as they are', () => {
  const headings = [
    ['**Two** tests fail in `token.ts`', 'Two tests fail in token.ts'],
    ['# Findings\n\n1. see [the report](https://example.org)\n- [x] *done*', 'Findings see the report done'],
    ['`__init__` of snake_case_name is 2 * 3 * 4, a**b', '__init__ of snake_case_name is 2 * 3 * 4, a**b'],
    ['```ts\nreturn 1\n```', 'return 1'],
    ['![chart](https://example.org/a.png) ~~not~~ so', 'chart not so'],
  ].map(([said = '', shown]) => {
    const script = new Script()
    const run = script.start('bot', said)
    script.conclude('bot', run.id, said)
    const [heading] = script.read().lists.stream.rows
    return [heading?.type === 'heading' && [heading.opening, heading.ending], [shown, shown]]
  })
  for (const [heading, shown] of headings) expect(heading).toEqual(shown)
})

test('a free context has its path as its name, and is not late after a conclusion in it', () => {
  const script = new Script()
  script.say({ from: 'bot', kind: 'chat', context: 'reason-123', payload: { message: 'Checking' } })
  script.conclude('bot', 'reason-123', 'fine')
  script.thought('bot', 'reason-123', 'or is it')
  const model = script.read()
  expect(headings(script)).toMatchObject([{ opening: 'reason-123', ending: 'fine', state: 'free' }])
  model.choose('reason-123', 'all')
  const said = model.lists.stream.rows.filter((row) => row.type === 'said')
  expect(said.map(({ isLate }) => isLate)).toEqual([false, false])
})

describe('a run', () => {
  test('marks what comes after its end, or that of its run, as late', () => {
    const { script, run } = thinking()
    const nested = script.start('bot', 'Deeper', { context: run.id })
    const inner = `${run.id}/${nested.id}`
    script.thought('bot', inner, 'in time')
    script.conclude('bot', inner, 'seen')
    script.thought('bot', inner, 'late in there')
    script.thought('bot', run.id, 'in time as well')
    script.conclude('bot', run.id, 'done')
    script.thought('bot', run.id, 'late')
    const model = script.read()
    for (const context of [run.id, inner]) model.choose(context, 'all')
    const said = model.lists.stream.rows.filter((row) => row.type === 'said')
    expect(said.map(({ text, isLate }) => [text, isLate])).toEqual([
      ['hm', false],
      ['in time', false],
      ['late in there', true],
      ['in time as well', false],
      ['late', true],
    ])
  })

  test('names the proposals that are based on it in its heading', () => {
    const { script, run } = thinking()
    const inside = script.propose('bot', run.id, 'release')
    const { context: _, ...outside } = script.propose('bot', run.id, 'announce')
    script.envelopes.pop()
    const based = script.say({ ...outside, id: 'based', correlationId: run.id })
    expect(headings(script)).toMatchObject([{ proposals: [inside.id, based.id] }])
  })

  test('is open while it is live', () => {
    const { script } = thinking()
    expect(gists(script.read())).toEqual(['ana: Is it ready?', 'bot thinks [some] Looking', '  thought hm'])
  })

  test('is one line when it is over, with what it came to', () => {
    const { script, run } = thinking()
    script.answer(script.call('bot', run.id, 'lint'), 'fine')
    script.conclude('bot', run.id, 'It is.')
    expect(gists(script.read())).toEqual(['ana: Is it ready?', 'bot concluded [closed] It is.'])
    expect(headings(script)).toMatchObject([{ duration: 4000, calls: 1, thoughts: 1, isLive: false }])
  })

  test('shows its last lines while it is live, and how many there are before them', () => {
    const { script, run } = thinking()
    for (let count = 1; count <= 8; count++) script.thought('bot', run.id, `thought ${count}`)
    expect(gists(script.read()).slice(2)).toEqual([
      '  3 more',
      ...[3, 4, 5, 6, 7, 8].map((count) => `  thought thought ${count}`),
    ])
  })

  test('opens in steps, to the last lines, then to all, and closes again', () => {
    const { script, run } = thinking()
    for (let count = 1; count <= 11; count++) script.thought('bot', run.id, `thought ${count}`)
    script.conclude('bot', run.id, 'done')
    const model = script.read()
    const lengths = [1, 2, 3].map(() => {
      model.cycle(run.id)
      return gists(model).length - 2
    })
    expect(lengths).toEqual([11, 13, 0])
    model.choose(run.id, 'all')
    expect(gists(model).at(-1)).toBe('  concluded done')
  })

  test('shows what is pressing even where it is closed', () => {
    const { script, run } = thinking()
    script.answer(script.call('bot', run.id, 'lint'), 'two problems', true)
    script.answer(script.call('bot', run.id, 'read'), 'text')
    script.propose('bot', run.id, 'release')
    script.thought('bot', run.id, 'that went wrong', { phase: 'error' })
    script.say({
      from: 'system:gateway',
      to: ['bot'],
      kind: 'system.decision',
      payload: { decision: 'denied', reasonCode: 'forbidden', message: 'no', context: run.id, count: 2 },
    })
    const model = script.read()
    model.choose(run.id, 'closed')
    expect(gists(model).slice(2)).toEqual([
      '  lint error',
      '  release open',
      '  problem that went wrong',
      'problem bot: denied: no (forbidden) ×2',
    ])
  })

  verifies('M29', 'has thoughts of richer kinds under the name of their kind, with all that they say', () => {
    const script = new Script()
    const run = script.start('bot', 'Looking', { payload: { goal: 'Is it safe?', approach: 'tests first' } })
    const rich = (kind: string, payload: Envelope['payload']) =>
      script.say({ from: 'bot', kind: `reasoning.${kind}`, context: run.id, payload })
    rich('question', { questions: ['What is modified?', 'Is there a rollback plan?'] })
    rich('observation', { content: 'Two tests fail', severity: 'high', components: ['oauth2', 'sessions'] })
    rich('hypothesis', { hypothesis: 'A regression', confidence: 0.85 })
    rich('conclusion', { decision: 'do_not_deploy', recommendation: 'Fix it first' })
    const model = script.read()
    model.choose(run.id, 'all')
    expect(gists(model)).toEqual([
      'bot concluded [all] do_not_deploy recommendation: Fix it first',
      '  thought question: - What is modified?\n- Is there a rollback plan?',
      '  thought observation: Two tests fail\nseverity: high\ncomponents: oauth2, sessions',
      '  thought hypothesis: A regression\nconfidence: 0.85',
      '  concluded do_not_deploy\nrecommendation: Fix it first',
    ])
    expect(headings(script)).toMatchObject([{ opening: 'Is it safe? approach: tests first' }])
  })

  verifies('M15', 'names who had the thought that another one answers', () => {
    const script = new Script()
    const run = script.start('bot', '')
    const first = script.thought('bot', run.id, 'performance first')
    script.say({
      from: 'aide',
      kind: 'reasoning.thought',
      context: run.id,
      correlationId: first.id,
      payload: { message: 'and the cache?' },
    })
    const model = script.read()
    model.choose(run.id, 'all')
    expect(model.lists.stream.rows.slice(1)).toMatchObject([{ replyTo: null }, { replyTo: 'bot' }])
  })

  test('keeps what is pressing in view when its lines are too many', () => {
    const { script, run } = thinking()
    script.propose('bot', run.id, 'release')
    for (let count = 1; count <= 8; count++) script.thought('bot', run.id, `thought ${count}`)
    expect(gists(script.read()).slice(2, 5)).toEqual(['  4 more', '  release open', '  thought thought 3'])
  })

  test('tells of what was withheld, of what came late, and of what it builds on', () => {
    const script = new Script()
    const first = script.chat('ana', 'one')
    const metadata = { confidence: 0.7 }
    const run = script.start('bot', '', { payload: { references: [first.id, 'gone'], metadata } })
    script.thought('bot', run.id, '', { metadata: { withheld: true } })
    script.conclude('bot', run.id, 'done')
    script.thought('bot', run.id, 'one more thing')
    const model = script.read()
    model.choose(run.id, 'all')
    const [, heading, withheld, , late] = model.lists.stream.rows
    expect(heading).toMatchObject({
      late: 1,
      confidence: 0.7,
      references: [
        { id: first.id, isResolved: true },
        { id: 'gone', isResolved: false },
      ],
    })
    expect([withheld, late]).toMatchObject([{ text: null }, { text: 'one more thing' }])
  })

  test('that was hidden from everyone says so until it is over', () => {
    const { script, run } = thinking()
    script.say({
      from: 'ana',
      kind: 'observe.visibility',
      payload: { context: run.id, reasoningVisible: false },
    })
    expect(headings(script)).toMatchObject([{ reasoningVisible: false }])
    script.conclude('bot', run.id, 'done')
    expect(headings(script)).toMatchObject([{ reasoningVisible: true }])
  })
})

describe('a nested context', () => {
  test('has a line and a fold of its own', () => {
    const { script, run } = thinking()
    const nested = script.start('bot', 'Checking', { context: run.id })
    const path = `${run.id}/${nested.id}`
    script.thought('bot', path, 'deep')
    script.conclude('bot', path, 'fine')
    script.conclude('bot', run.id, 'done')
    const model = script.read()
    model.choose(run.id, 'all')
    expect(gists(model).slice(2)).toEqual([
      '  thought hm',
      '  bot concluded [closed] fine',
      '  concluded done',
    ])
    model.choose(path, 'all')
    expect(gists(model).slice(3)).toEqual([
      '  bot concluded [all] fine',
      '    thought deep',
      '    concluded fine',
      '  concluded done',
    ])
  })
})

describe('what is thought by others', () => {
  test('is marked as theirs, and a request to stop as one', () => {
    const { script, run } = thinking()
    script.thought('eve', run.id, 'mind the tests')
    script.say({ from: 'ana', kind: 'reasoning.cancel', context: run.id, payload: { reason: 'lunch' } })
    const [, , own, other, stop] = script.read().lists.stream.rows
    expect([own, other, stop]).toMatchObject([
      { isByAnother: false },
      { isByAnother: true, text: 'mind the tests' },
      { isByAnother: true, text: 'asks bot to stop: lunch' },
    ])
  })

  test('is left out where the reader does not want it: starts, ends and answers stay', () => {
    const { script, question, run } = thinking()
    script.call('bot', run.id, 'lint', { rationale: 'because I think so' })
    const other = script.start('eve', 'Me too')
    script.thought('eve', other.id, 'aha')
    script.chat('bot', 'Yes.', { correlationId: question.id })
    const model = script.read()
    model.mute('bot', true)
    expect(gists(model)).toEqual([
      'ana: Is it ready?',
      'bot thinks [some] Looking',
      '  lint pending',
      'eve thinks [some] Me too',
      '  thought aha',
      'bot: Yes.',
    ])
    expect(model.lists.stream.rows[2]).toMatchObject({ rationale: null })
    model.mute('bot', false)
    expect(gists(model)).toContain('  thought hm')
  })
})

describe('a proposal', () => {
  test.each([
    ['ana', 'mcp.reject', { reason: 'declined' }, 'rejected', 0],
    ['bot', 'mcp.withdraw', { reason: 'no need' }, 'withdrawn', 0],
    ['eve', 'mcp.reject', { reason: 'declined' }, 'open', 1],
  ])('is for ana, after %s has sent %s', (from, kind, payload, state, pending) => {
    const { script, run } = thinking()
    const { id } = script.propose('bot', run.id, 'release')
    script.say({ from, kind, correlationId: id, payload })
    const model = new SpaceModel()
    model.onWelcome(welcome(['ana', 'bot', 'eve']), 0)
    model.append(script.envelopes, 0)
    expect(gists(model).at(-1)).toBe(`  release ${state}`)
    expect(model.pending(0)).toHaveLength(pending)
  })

  test('closes when somebody carries it out, and the call says who', () => {
    const { script, run } = thinking()
    const { id } = script.propose('bot', run.id, 'release')
    expect(
      script
        .read()
        .pending(0)
        .map((each) => each.id),
    ).toEqual([id])
    const request = script.call('ana', run.id, 'release', { correlationId: id })
    script.answer(request, 'out')
    const model = script.read()
    expect(gists(model).slice(-2)).toEqual(['  thought hm', '  release success'])
    expect(model.lists.stream.rows.at(-1)).toMatchObject({ approvedBy: 'ana' })
    expect(model.pending(0)).toEqual([])
  })
})

describe('outside of runs', () => {
  test('who comes and goes shares a line', () => {
    const script = new Script()
    for (const id of ['ana', 'bot']) script.presence('join', id)
    script.presence('leave', 'bot')
    script.chat('ana', 'Where is it?')
    script.presence('join', 'bot')
    expect(gists(script.read())).toEqual([
      'event ana, bot are here · bot left',
      'ana: Where is it?',
      'event bot is here',
    ])
  })

  test('what its time has ended has a line', () => {
    const script = new Script()
    const participant = { id: 'bot' }
    for (const what of ['pause', 'grant', 'proposal']) {
      const payload = { event: 'update', participant, ended: { what, id: 'e1' } }
      script.say({ from: 'system:gateway', kind: 'system.presence', payload })
    }
    expect(gists(script.read())).toEqual([
      'event bot is no longer paused · bot no longer has what e1 granted · bot no longer waits: its proposal e1 has expired',
    ])
  })

  test('messages change: they are acknowledged, and taken back', () => {
    const script = new Script()
    const { id } = script.chat('ana', 'Stop!')
    script.say({ from: 'bot', kind: 'chat.acknowledge', correlationId: id })
    script.say({ from: 'ana', kind: 'chat.cancel', correlationId: id })
    expect(script.read().lists.stream.rows).toMatchObject([
      { message: { acknowledgedBy: ['bot'], isTakenBack: true } },
    ])
  })

  test('every kind has a line in words, or as it is', () => {
    const script = new Script()
    script.say({
      from: 'ana',
      kind: 'capability.grant',
      payload: {
        recipient: 'bot',
        capabilities: ['chat', { kind: 'mcp.request', to: 'x' }],
        reason: 'it asked',
      },
    })
    script.say({ from: 'ana', to: ['bot'], kind: 'participant.pause', payload: {} })
    script.say({ from: 'bot', kind: 'weather.report', payload: { sky: 'blue' } })
    expect(gists(script.read())).toEqual([
      'event granted bot chat {"kind":"mcp.request","to":"x"} — it asked',
      'event paused bot',
      'event weather.report: sky: blue',
    ])
  })

  test('text from others cannot move what is around it', () => {
    const script = new Script()
    script.chat('eve', 'abc\u202Edef\u001B[2J')
    expect(gists(script.read())).toEqual(['eve: abcdef[2J'])
  })
})
