import { openTranscript, Priority, type PromptMessage } from '@meup/agent-sdk/transcript'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { scripted, types } from './scripted-client.js'

const texts = (prompt: readonly PromptMessage[]): string[] => prompt.map(({ text }) => text)

/** A transcript with three commits: user, reasoning, assistant. */
function thoughtful() {
  const transcript = openTranscript()
  transcript.user('Deploy?')
  const thought = transcript.reasoning('The tests pass')
  const answer = transcript.assistant('Yes.')
  return { transcript, thought, answer }
}

describe('a prompt', () => {
  verifies('T15', 'has no reasoning, while the log keeps it', async () => {
    const client = scripted([{ text: 'Yes.', reasoning: 'The tests pass' }, { text: 'Now.' }])
    const transcript = openTranscript({ client })
    await transcript.chat('Deploy?')
    const { length } = transcript.commits
    expect(types(transcript.compile())).toEqual(['user', 'assistant'])
    expect(transcript.commits).toHaveLength(length)
    await transcript.chat('When?')
    expect(JSON.stringify(client.asked[1]?.messages)).not.toContain('The tests pass')
    expect(transcript.log({ type: 'reasoning' })).toHaveLength(1)
  })

  verifies(
    'T16',
    'has it where it is asked for: in place, in order, and nothing else that is skipped',
    () => {
      const { transcript, thought, answer } = thoughtful()
      transcript.annotate(answer.hash, Priority.SKIP)
      transcript.user('When?')
      transcript.reasoning('At night')
      transcript.assistant('At night.')
      const prompt = transcript.compile({ includeReasoning: true })
      expect(texts(prompt)).toEqual(['Deploy?', 'The tests pass', 'When?', 'At night', 'At night.'])
      expect(prompt[1]).toEqual({
        type: 'reasoning',
        role: 'assistant',
        text: 'The tests pass',
        hash: thought.hash,
      })
    },
  )

  verifies('T17', 'goes by annotations first, both ways, the last one counting', () => {
    const { transcript, thought, answer } = thoughtful()
    transcript.annotate(thought.hash, Priority.PINNED, 'decisive')
    expect(types(transcript.compile())).toEqual(['user', 'reasoning', 'assistant'])
    transcript.annotate(thought.hash, Priority.SKIP)
    expect(types(transcript.compile({ includeReasoning: true }))).toEqual(['user', 'assistant'])
    transcript.annotate(thought.hash, Priority.NORMAL)
    expect(types(transcript.compile())).toEqual(['user', 'reasoning', 'assistant'])
    transcript.annotate(answer.hash, Priority.SKIP, 'wrong')
    expect(types(transcript.compile())).toEqual(['user', 'reasoning'])
    expect(transcript.log()[2]).toMatchObject({
      priority: 'skip',
      annotation: { priority: 'skip', reason: 'wrong' },
    })
    expect(() => Object.assign(transcript.log()[2]?.annotation ?? {}, { priority: 'pinned' })).toThrow(
      TypeError,
    )
    expect(transcript.commits).toHaveLength(3)
  })
})

describe('calls and results go together', () => {
  function called() {
    const transcript = openTranscript()
    transcript.user('What fails?')
    const toolCalls = ['c1', 'c2'].map((id) => ({ id, name: 'read', arguments: { id } }))
    const asking = transcript.assistant('Looking', { toolCalls })
    const [first] = [transcript.tool('c1', 'a long report'), transcript.tool('c2', 'another')]
    transcript.assistant('Test 2.')
    return { transcript, asking, first, toolCalls }
  }

  test('in the order in which they were', () => {
    const { transcript, toolCalls } = called()
    expect(transcript.compile().map(({ hash: _, ...message }) => message)).toEqual([
      { type: 'user', role: 'user', text: 'What fails?' },
      { type: 'assistant', role: 'assistant', text: 'Looking', toolCalls },
      { type: 'tool', role: 'tool', callId: 'c1', name: 'read', text: 'a long report' },
      { type: 'tool', role: 'tool', callId: 'c2', name: 'read', text: 'another' },
      { type: 'assistant', role: 'assistant', text: 'Test 2.' },
    ])
  })

  test('a result that is skipped leaves its place', () => {
    const { transcript, first } = called()
    transcript.annotate(first.hash, 'skip')
    expect(texts(transcript.compile())).toEqual([
      'What fails?',
      'Looking',
      '[left out]',
      'another',
      'Test 2.',
    ])
  })

  test('without the calls there are no results, not even of other calls by the same ids', () => {
    const { transcript, asking, toolCalls } = called()
    transcript.annotate(asking.hash, 'skip')
    transcript.assistant('Again', { toolCalls })
    transcript.tool('c1', 'a new report')
    transcript.tool('c2', 'a new other')
    expect(texts(transcript.compile())).toEqual([
      'What fails?',
      'Test 2.',
      'Again',
      'a new report',
      'a new other',
    ])
  })
})

describe('a prompt that is too long', () => {
  /** Commits with 12, 19, 42, 13 and 7 characters, then 16 from the last question on. */
  function long() {
    const transcript = openTranscript()
    transcript.user('What fails? ')
    const thought = transcript.reasoning('The report may tell')
    transcript.assistant('', { toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] })
    transcript.tool('c1', 'a long report')
    transcript.assistant('Test 2.')
    transcript.user('Why?')
    transcript.reasoning('Asking again')
    const within = (maxChars: number) => texts(transcript.compile({ maxChars, includeReasoning: true }))
    return { transcript, thought, within }
  }

  verifies(
    ['T07', 'T20'],
    'loses results first, then reasoning, then what was said, the oldest first',
    () => {
      const { within } = long()
      const all = [
        'What fails? ',
        'The report may tell',
        '',
        'a long report',
        'Test 2.',
        'Why?',
        'Asking again',
      ]
      expect(within(109)).toEqual(all)
      expect(within(108)).toEqual(all.with(3, '[left out]'))
      expect(within(105)).toEqual(all.with(3, '[left out]').toSpliced(1, 1))
      expect(within(86)).toEqual(['', '[left out]', 'Test 2.', 'Why?', 'Asking again'])
      expect(within(74)).toEqual(['Test 2.', 'Why?', 'Asking again'])
      expect(within(16)).toEqual(['Why?', 'Asking again'])
      expect(within(0)).toEqual(['Why?', 'Asking again'])
    },
  )

  test('keeps what is pinned', () => {
    const { transcript, thought, within } = long()
    transcript.annotate(thought.hash, Priority.PINNED)
    expect(within(50)).toEqual(['The report may tell', 'Test 2.', 'Why?', 'Asking again'])
    expect(within(0)).toEqual(['The report may tell', 'Why?', 'Asking again'])
  })

  test('is what the model is told, while the log keeps all', async () => {
    const client = scripted([{ text: 'Yes.' }, { text: 'At night.' }])
    const transcript = openTranscript({ client })
    await transcript.chat('Deploy?')
    await transcript.chat('When?', { maxChars: 10 })
    expect(texts(client.asked[1]?.messages ?? [])).toEqual(['Yes.', 'When?'])
    expect(transcript.commits).toHaveLength(4)
  })
})
