import { Kind, parseExact, stringifyExact } from '@meup/protocol'
import { expect, test } from 'vitest'
import { listCalls, startCoder, usual } from './support/coder.js'

const own = { capabilities: [...usual, { tool: 'coder/*' }] }
const numbers = '"id":9007199254740993,"price":0.1000,"in":[1.0]'
const diff = { type: 'diff', path: '/a', oldText: 'o', newText: 'n' }
const fields = `"toolCallId":"c1","title":"pay","kind":"other","rawInput":{${numbers}}`
const done = ['progress', { toolCallId: 'c1', status: 'completed' }] as const
const once = (id: string) => ({ optionId: id, kind: 'allow_once', name: id })
const ask = (options: object[], content: object[] = []) =>
  [
    'raw',
    '"id":"p1","method":"session/request_permission"',
    `"toolCall":{${fields},"content":${JSON.stringify(content)}},"options":${JSON.stringify(options)}`,
  ] as const

const answered = (step: ReturnType<typeof ask>) => [['hear', 'outcome'], step, ['untilHeard']] as const

test.each([
  ['asked for', answered(ask([once('yes')]))],
  ['asked for with a change of a file', answered(ask([once('yes')], [diff]))],
  [
    'made without a question',
    [['raw', '"method":"session/update"', `"update":{"sessionUpdate":"tool_call",${fields}}`]] as const,
  ],
])('the arguments of a call keep the digits of their numbers: %s', async (_, steps) => {
  const { ask, log, seen } = await startCoder(own)
  await ask(...steps, done, ['text', 'Done.'])
  await seen(Kind.mcpResponse)
  expect(stringifyExact(listCalls(log)[0]?.params)).toContain(`"arguments":{${numbers}`)
})

test('and so do those of a choice, in each of its proposals', async () => {
  const { ana, ask: put, log, seen } = await startCoder(own)
  const asked = put(...answered(ask([once('one'), once('two')])), done, ['text', 'Done.'])
  const { id } = await seen(Kind.mcpProposal, ({ payload }) => stringifyExact(payload).includes('"two"'))
  await ana.proposals.approve(id)
  await asked
  const proposed = log.filter(({ kind }) => kind === Kind.mcpProposal)
  for (const { payload } of proposed)
    expect(stringifyExact(payload)).toContain(`"arguments":{${numbers},"choice"`)
  expect(proposed).toHaveLength(2)
})

test('a tool of the space gets the digits that the agent sends, and the agent those of its result', async () => {
  const { space, ask } = await startCoder({
    capabilities: [...usual, { tool: 'desk/*' }],
    participants: { desk: { kind: 'mcp', capabilities: ['*'] } },
  })
  const desk = await space.join('desk')
  const got: string[] = []
  desk.tool('pay', {}, (args) => {
    got.push(String(stringifyExact(args)))
    return parseExact(`{${numbers}}`)
  })
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"desk__pay","arguments":{${numbers}}}}`
  expect(await ask(['spaceText', call])).toContain(`"structuredContent":{${numbers}}`)
  expect(got).toEqual([`{${numbers}}`])
})
