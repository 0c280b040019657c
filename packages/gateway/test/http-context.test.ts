import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { begin, chat, stage, thought } from './turns.js'

const inPath = (message: string, context = 'reason-777') => ({ ...thought(context, message) })

verifies('M32', 'one context is written for people, with the name of each speaker', async () => {
  const { say, as } = await stage()
  await say(['ana', chat('ask', 'Deploy?')], ['ben', begin('run', 'ask', 'Looking at it')])
  await say(['ben', thought('run', 'The tests are green')])
  await say(['ben', { kind: 'reasoning.conclusion', context: 'run', payload: { message: 'Deploy' } }])
  const response = await as('ana').get('/contexts/run?format=markdown')
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  const text = await response.text()
  expect(text.replace(/(?<=· rules )[0-9a-f]{6}/, 'DIGEST')).toBe(
    [
      '# run in test',
      '',
      '[思考] thinking · [計画] plan · [承認待ち] waiting for approval · [実行] executed · [エラー] error · rules DIGEST',
      '',
      '## Context run',
      '',
      'ben begins: Looking at it',
      '',
      'ben [思考] The tests are green',
      '',
      'ben concludes: Deploy',
      '',
    ].join('\n'),
  )
})

test('a path that nobody opened is told as far as it may be read', async () => {
  const { say, as } = await stage()
  await say(['ben', inPath('Is it the cache?')], ['cleo', inPath('It is', 'reason-777/cache')])
  await say(['ana', { ...chat('note', 'for ben'), context: 'reason-777', to: ['ben'] }])
  expect(await as('stranger').json('/contexts/reason-777')).toMatchObject({
    context: 'reason-777',
    state: 'free',
    counts: { envelopes: 2, thoughts: 2, contributors: 2 },
    children: [{ context: 'reason-777/cache', state: 'free' }],
  })
  expect(await as('ben').json('/contexts/reason-777')).toMatchObject({
    counts: { envelopes: 3, contributors: 3 },
  })
  const text = await (await as('stranger').get('/contexts/reason-777?format=markdown')).text()
  expect(text).toContain('cleo [思考] It is')
  expect(text).not.toContain('for ben')
})

test('free paths are listed among the contexts, with what everyone may read', async () => {
  const { say, as } = await stage()
  const question = chat('ask', 'Is this write safe?')
  await say(['ana', question])
  await say(
    ['ben', { ...chat('looks', 'Let me check'), context: 'reason-789' }],
    ['ben', { ...chat('deeper', 'Elevated'), context: 'reason-789/permissions' }],
    ['ben', begin('run', 'ask', 'Another way')],
  )
  await say(['ana', { ...chat('note', 'for ben'), context: 'secret', to: ['ben'] }])
  const { contexts } = (await as('ben').json('/contexts')) as { contexts: object[] }
  expect(contexts).toMatchObject([
    {
      context: 'reason-789',
      state: 'free',
      counts: { envelopes: 2, thoughts: 0, contributors: 1 },
      children: [{ context: 'reason-789/permissions', state: 'free', children: [] }],
    },
    { context: 'run', state: 'open' },
  ])
})

test('work in a free path is told with its question and its answer', async () => {
  const { say, as } = await stage()
  await say(['ana', chat('ask', 'Is this write safe?')])
  await say(
    ['ben', { ...chat('looks', 'Let me check'), context: 'reason-789' }],
    ['ben', chat('no', 'It is not')],
  )
  expect(await as('ana').json('/turns?thread_id=test/ben')).toMatchObject({
    turns: [{ user_input: 'Is this write safe?', response: 'It is not', state: 'completed' }],
  })
  const text = await (await as('ana').get('/audit/export?format=markdown&thread_id=test/ben')).text()
  const paragraphs = ['ana asks: Is this write safe?', 'ben says: Let me check', 'ben answers: It is not']
  expect(
    text
      .split('\n\n')
      .slice(-3)
      .map((each) => each.trim()),
  ).toEqual(paragraphs)
})

test.for(['/contexts/nothing', '/contexts/nothing?format=markdown'])('%s is unknown', async (path) => {
  const { as } = await stage()
  const response = await as('ana').get(path)
  expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
})
