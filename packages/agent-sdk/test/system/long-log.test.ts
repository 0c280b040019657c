import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { promptOf, type Remembering, remembering } from '../support/remembering.js'

/** Posts `count` envelopes over HTTP as bob. */
async function post({ gateway }: Remembering, count: number, make: (n: number) => object): Promise<void> {
  const headers = { authorization: `Bearer ${testToken('bob')}`, 'content-type': 'application/json' }
  for (let done = 0; done < count; done += 500) {
    const body = JSON.stringify(Array.from({ length: 500 }, (_, n) => make(done + n)))
    const answer = await fetch(`${gateway.url}/spaces/test/envelopes`, { method: 'POST', headers, body })
    expect(answer.status).toBe(201)
  }
}

const requestsFor = (pages: readonly string[]): number =>
  pages.filter((page) => !page.includes('correlationId')).length

const total = times(5000, 100_000)

test(`of a log of ${total} messages an agent reads what its memory holds, in one request`, async () => {
  const here = await remembering()
  const mentions = ['ana']
  await post(here, total, (n) => ({ kind: Kind.chat, payload: { message: `number ${n}`, mentions } }))
  const program = await here.run(() => [{ text: 'noted' }], { compact: 'drop', answerMissed: false })
  for (const question of ['one', 'two']) await here.ana.ask(question, { mention: 'bot' })
  const [prompt = ''] = promptOf(program)
  const said = (n: number): string => `bob: number ${n}\n\n`
  expect(prompt.startsWith(said(total - 38) + said(total - 37))).toBe(true)
  expect(prompt.endsWith(`${said(total - 1)}ana: one`)).toBe(true)
  expect(requestsFor(program.pages)).toBe(1)
}, 120_000)

test('a long log in which little was said is read within bounds, and what was said long ago is not found', async () => {
  const here = await remembering()
  const mentions = ['ana']
  await post(here, 500, (n) => ({ kind: Kind.chat, payload: { message: `number ${n}`, mentions } }))
  await post(here, times(40_000, 120_000), () => ({ kind: 'test.thing' }))
  const program = await here.run(() => [{ text: 'noted' }], { compact: 'drop' })
  await here.ana.ask('one', { mention: 'bot' })
  expect(requestsFor(program.pages)).toBeLessThanOrEqual(30)
}, 120_000)
