import { EventType, type Message } from '@ag-ui/client'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { asking, bearer } from '../../gateway/test/http-client.js'
import { conclude } from '../../gateway/test/turns.js'
import { answer, beginTurn, Page, stage, user } from './stage.js'

const chatsOfAna = async (url: string): Promise<unknown[]> =>
  (await asking(url, 'ana').history('kind=chat&from=ana')).envelopes

test.for<[what: string, messages: Message[]]>([
  ['no message', []],
  ['a system message', [{ id: 's', role: 'system', content: 'be kind' }]],
  ['a developer message', [{ id: 'd', role: 'developer', content: 'be kind' }]],
  ['a greeting', [{ id: 'g', role: 'assistant', content: 'Hello' }]],
  ['a result', [{ id: 't', role: 'tool', toolCallId: 'c', content: 'x' }]],
])('a run with %s begins and ends, and asks no one', async ([, messages]) => {
  const { url } = await stage()
  const page = new Page(url, 'ana', messages)
  await page.run()
  expect(page.events).toEqual([EventType.RUN_STARTED, EventType.RUN_FINISHED])
  expect(await chatsOfAna(url)).toEqual([])
})

/** Waits for ana's next question, and answers it as ben. */
async function answerNext(ben: Awaited<ReturnType<typeof stage>>['ben'], text: string): Promise<string> {
  const { id } = await ben.next(({ kind, from }) => kind === Kind.chat && from === 'ana')
  await ben.accepted(answer(id, text))
  return id
}

describe('a message whose answer was removed', () => {
  test('is asked again, as often as that happens', async () => {
    const { url, ben } = await stage()
    const page = new Page(url, 'ana')
    for (const text of ['first', 'second', 'third']) {
      page.agent.setMessages([user('q1', 'please do')])
      const run = page.run()
      await answerNext(ben, text)
      await run
      expect(page.shown).toEqual(['user please do', `assistant ${text}`])
    }
    expect(await chatsOfAna(url)).toHaveLength(3)
  })

  test('goes on with the latest question when the client has something of it', async () => {
    const { url, ben } = await stage()
    const first = new Page(url, 'ana')
    const run = first.run()
    await answerNext(ben, 'first')
    await run
    const again = new Page(url, 'ana')
    const second = again.run()
    await beginTurn(ben)
    await expect.poll(() => again.shown).toContain('reasoning how to do it')
    again.leave()
    await second
    const { id } = (await chatsOfAna(url)).at(-1) as { id: string }
    await ben.accepted(conclude('run'))
    await ben.accepted(answer(id, 'second'))
    const third = new Page(url, 'ana', again.messages)
    await third.run()
    expect(third.shown).toEqual(['user please do', 'reasoning how to do it', 'assistant second'])
    expect(await chatsOfAna(url)).toHaveLength(2)
  })

  test('is not asked again by a client whose stream broke before anything came', async () => {
    const { url, ben } = await stage()
    const page = new Page(url, 'ana')
    const run = page.run()
    const { id } = await ben.next(({ kind }) => kind === Kind.chat)
    page.leave()
    await run
    await ben.accepted(answer(id, 'done'))
    const again = new Page(url, 'ana')
    await again.run()
    expect(again.shown).toEqual(['user please do', 'assistant done'])
    expect(await chatsOfAna(url)).toHaveLength(1)
  })
})

test('a request that is repeated with its runId asks nothing again, though it was answered', async () => {
  const { url, ben, runs } = await stage()
  const body = JSON.stringify({ threadId: 't', runId: 'r', messages: [user('q1', 'please do')] })
  const post = async (): Promise<string> =>
    (await fetch(runs, { method: 'POST', headers: bearer('ana'), body })).text()
  const first = post()
  await answerNext(ben, 'done')
  expect(await post()).toBe(await first)
  expect(await chatsOfAna(url)).toHaveLength(1)
})

test('a message that was edited is another question', async () => {
  const { url, ben } = await stage()
  for (const text of ['please do', 'please do not']) {
    const page = new Page(url, 'ana', [user('q1', text)])
    const run = page.run()
    await answerNext(ben, `${text}: done`)
    await run
    expect(page.shown).toEqual([`user ${text}`, `assistant ${text}: done`])
  }
  expect(await chatsOfAna(url)).toHaveLength(2)
})

test('a client that knows no REASONING events reads thoughts with events=thinking', async () => {
  const { url, ben } = await stage()
  const body = JSON.stringify({ threadId: 't', runId: 'r', messages: [user('q1', 'please do')] })
  const run = fetch(`${url}/spaces/test/ag-ui?events=thinking`, {
    method: 'POST',
    headers: bearer('ana'),
    body,
  })
  const question = await beginTurn(ben)
  await ben.accepted(answer(question))
  const text = await (await run).text()
  const events = [...text.matchAll(/^data: (.*THINKING.*)$/gm)].map(([, event = '']) => JSON.parse(event))
  expect(events).toEqual([
    { type: 'THINKING_START' },
    { type: 'THINKING_TEXT_MESSAGE_START' },
    { type: 'THINKING_TEXT_MESSAGE_CONTENT', delta: 'how to do it' },
    { type: 'THINKING_TEXT_MESSAGE_END' },
    { type: 'THINKING_END' },
  ])
  expect(text).not.toContain('REASONING_')
})
