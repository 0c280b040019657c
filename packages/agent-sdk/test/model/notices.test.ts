import { expect, onTestFinished, test, vi } from 'vitest'
import { calling, failing, saying, serveModel } from '../../../../test/support/model-server.js'
import { stage } from './stage.js'

test('what is adapted, and what is left out, is printed for the operator in one line each, without a stack', async () => {
  const { baseURL } = await serveModel((body) =>
    body.tools === undefined ? saying('It is 5.') : failing(400, 'm does not support tools'),
  )
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())
  await using here = await stage([])
  here.bob.serve(async ({ payload: { method } }) =>
    method === 'tools/list' ? { result: { tools: [{ name: 'a\u200b' }, { name: 'fine' }] } } : undefined,
  )
  void here.desk.agent({ model: 'm', baseURL, tools: ['bob/*'] })
  expect((await here.ana.ask('Hello?', { to: ['desk'] })).text).toBe('It is 5.')
  expect(printed.mock.calls).toEqual([
    ['agent:', 'a tool of bob is left out: its name cannot be used in a prompt'],
    ['agent:', `m at ${baseURL} takes no tools, and answers without them.`],
  ])
})

test('so is a failure whose cause is not printed, as it quotes a key', async () => {
  const key = 'acme-gateway-7731'
  const { baseURL } = await serveModel([failing(400, `what is ${key}?`), calling('x', {})])
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())
  await using here = await stage([])
  void here.desk.agent({ model: 'm', baseURL, apiKey: key, tools: [] })
  await here.ana.ask('Hello?', { to: ['desk'] })
  expect(printed.mock.calls).toEqual([
    ['agent:', `m at ${baseURL} answered 400: what is [redacted:known-secret]?`],
  ])
})
