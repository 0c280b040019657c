import { EventType } from '@ag-ui/client'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import type { Client } from '../../gateway/test/client.js'
import { call, result, thought } from '../../gateway/test/turns.js'
import { answer, beginTurn, Page, propose, stage, user } from './stage.js'

/** A run that shows ben's first thought, and a function that sends deltas of his answer. */
async function running(page?: Page) {
  const staged = await stage()
  const { url, ben } = staged
  const shown = page ?? new Page(url, 'ana')
  const run = shown.run()
  const question = await beginTurn(ben)
  await expect.poll(() => shown.shown).toContain('reasoning how to do it')
  const write = writer(ben, question)
  /** The messages after the question and the thought. */
  const texts = (): unknown[] => shown.shown.slice(2)
  /**
   * Sends the first delta repeatedly, until the page shows it: deltas are not stored, so any that is sent before the run
   * follows live envelopes is lost.
   */
  const shows = async (text: string): Promise<void> => {
    const again = (): unknown[] => {
      write(0, text)
      return texts()
    }
    await expect.poll(again).toEqual([`assistant ${text}`])
  }
  return { ...staged, page: shown, run, question, write, shows, texts }
}

const writer =
  (ben: Client, question: string) =>
  (index: number, text: string, to = ['ana']): void =>
    ben.send({ kind: Kind.chatDelta, to, correlationId: question, payload: { index, text } })

describe('an answer as it is written [MEUP-3.25]', () => {
  test('is shown as it comes, and completed by the chat', async () => {
    const { ben, page, run, question, write, shows, texts } = await running()
    await shows('do')
    write(1, 'ne ')
    await expect.poll(texts).toEqual(['assistant done '])
    await ben.accepted(answer(question, 'done at last'))
    await run
    expect(texts()).toEqual(['assistant done at last'])
    expect(page.messages.at(-1)).toMatchObject({ role: 'assistant', name: 'ben' })
    expect(page.events.slice(-6)).toEqual([
      EventType.TEXT_MESSAGE_START,
      ...[1, 2, 3].map(() => EventType.TEXT_MESSAGE_CONTENT),
      EventType.TEXT_MESSAGE_END,
      EventType.RUN_FINISHED,
    ])
  })

  test.for([
    [
      'all of it has come',
      [
        [0, 'do'],
        [1, 'ne'],
      ],
      'done',
      ['done'],
    ],
    [
      'white space is all that differs',
      [
        [0, '\ndone'],
        [1, ' \n'],
      ],
      'done',
      ['\ndone \n'],
    ],
    [
      'a part is missing',
      [
        [0, 'do'],
        [2, 'last'],
      ],
      'done at last',
      ['done at last'],
    ],
    ['its beginning is missing', [[1, 'ne']], 'done', ['done']],
    [
      'it starts over with the same',
      [
        [0, 'do'],
        [0, 'd'],
        [1, 'o'],
        [2, 'ne'],
      ],
      'done',
      ['done'],
    ],
    [
      'it starts over',
      [
        [0, 'I will look'],
        [0, 'do'],
        [1, 'ne'],
      ],
      'done',
      ['I will look', 'done'],
    ],
    ['it says something else', [[0, 'maybe']], 'done', ['maybe', 'done']],
    ['it says less', [[0, 'done, I think']], 'done', ['done, I think', 'done']],
  ] as const)('is shown once: where %s', async ([, deltas, text, messages]) => {
    const { ben, run, question, write, shows, texts } = await running()
    const [[first, beginning]] = deltas
    if (first === 0) await shows(beginning)
    for (const [index, part] of deltas.slice(first === 0 ? 1 : 0)) write(index, part)
    await ben.accepted(answer(question, text))
    await run
    expect(texts()).toEqual(messages.map((each) => `assistant ${each}`))
  })

  test('ends where something else is shown, and goes on after it', async () => {
    const { ben, tool, page, run, question, write, shows, texts } = await running()
    await shows('so far')
    await ben.accepted(thought('run', 'hm'))
    write(1, ', so good')
    await ben.accepted(answer(question, 'so far, so good'))
    await run
    expect(texts()).toEqual(['assistant so far, so good', 'reasoning hm'])
    expect(page.events.filter((type) => type === EventType.TEXT_MESSAGE_START)).toHaveLength(2)
    expect(tool.frames.map(({ kind }) => kind)).not.toContain(Kind.chatDelta)
  })

  test('that turns out to be a thought before a call is not shown as a thought as well', async () => {
    const { ben, tool, run, question, write, shows, texts } = await running()
    await shows('I will look')
    await ben.accepted(thought('run', 'I will look'))
    await ben.accepted(call('c1', 'run', 'look', 'to know'))
    await tool.accepted(result('c1', 'seen'))
    write(0, 'do')
    write(1, 'ne')
    await ben.accepted(answer(question))
    await run
    expect(texts()).toEqual([
      'assistant I will look',
      'assistant look{"query":"look"}',
      'tool seen',
      'assistant done',
    ])
  })

  test('that starts over again and again is shown when it is there', async () => {
    const { ben, run, question, write, shows, texts } = await running()
    const begun = Array.from({ length: 20 }, (_, count) => `${count}.`)
    await shows('0.')
    for (const text of begun.slice(1)) write(0, text)
    await ben.accepted(answer(question))
    await run
    expect(texts()).toEqual([...begun.slice(0, 16), 'done'].map((text) => `assistant ${text}`))
  })

  test('ends with the run', async () => {
    const { ben, page, run, shows } = await running()
    await shows('so far')
    await ben.accepted(propose('p1'))
    await run
    expect(page.agent.pendingInterrupts).toMatchObject([{ id: 'p1' }])
    expect(page.events.at(-1)).toBe(EventType.RUN_FINISHED)
    expect(page.events.filter((type) => type === EventType.TEXT_MESSAGE_END)).toHaveLength(1)
  })

  test('is not shown from others, for others, or about something else', async () => {
    const { ben, connect, run, question, write, texts } = await running()
    const tool = await connect('ana')
    tool.send({ kind: Kind.chatDelta, correlationId: question, payload: { index: 0, text: 'forged' } })
    write(0, 'for eve', ['eve'])
    writer(ben, 'other')(0, 'about something else')
    await ben.accepted(answer(question))
    await run
    expect(texts()).toEqual(['assistant done'])
  })

  test('goes on in the next run of a client that went away: it gets what it does not have, once', async () => {
    const { url, ben, page, run, question, shows } = await running()
    await shows('so far')
    page.leave()
    await run
    await ben.accepted(answer(question, 'so far, so good'))
    const again = new Page(url, 'ana', page.messages)
    await again.run()
    expect(again.shown.slice(2)).toEqual(['assistant so far, so good'])
    const third = new Page(url, 'ana', again.messages)
    await third.run()
    expect(third.shown).toEqual(again.shown)
  })

  test('is of one question: the next one has messages of its own', async () => {
    const { ben, page, run, question, write } = await running()
    write(0, 'do')
    await ben.accepted(answer(question))
    await run
    page.agent.addMessage(user('q2', 'and more'))
    const second = page.run()
    const { id } = await ben.next(({ payload }) => payload.message === 'and more')
    writer(ben, id)(0, 'more')
    await ben.accepted(answer(id, 'more is done'))
    await second
    expect(page.shown.slice(2)).toEqual(['assistant done', 'user and more', 'assistant more is done'])
  })
})
