import { expect, test } from 'vitest'
import { asking } from '../../gateway/test/http-client.js'
import { createRefusal } from '../src/errors.js'
import { refusal, stage } from './stage.js'

const question = { id: 'q', role: 'user', content: 'please do' }
const fit = { threadId: 't', runId: 'r', messages: [question], tools: [], context: [], state: {} }
const resume = (entry: unknown) => ({ ...fit, resume: [entry] })
const resolved = { interruptId: 'p', status: 'resolved' }

test.for<[who: string, body: unknown, status: number, code: string, headers?: Record<string, string>]>([
  ['nobody', fit, 401, 'unauthorized'],
  ['mute', fit, 403, 'capability_violation'],
  ['ana', fit, 403, 'forbidden', { origin: 'http://elsewhere.example' }],
  ['ana', { ...fit, forwardedProps: { agent: 'zoe' } }, 404, 'participant_not_found'],
  ['ana', resume({ ...resolved, payload: { approved: true } }), 404, 'proposal_not_found'],
])('%s with %j is refused with %i %s', async ([who, body, status, code, headers]) => {
  const { runs } = await stage()
  expect(await refusal(runs, who, body, headers)).toMatchObject({ status, body: { status, code } })
})

test('a space that there is not is not found', async () => {
  const { url } = await stage()
  expect(await refusal(`${url}/spaces/none/ag-ui`, 'ana', fit)).toMatchObject({ status: 404 })
})

test('guests have no thread of their own', async () => {
  const { runs } = await stage({ guest: { capabilities: ['*'] } })
  const response = await fetch(runs, { method: 'POST', body: JSON.stringify(fit) })
  expect([response.status, await response.json()]).toMatchObject([401, { code: 'unauthorized' }])
})

test('a proposal that is for the client to approve, but not for this one, is refused with 403', async () => {
  const { ben, runs } = await stage()
  const params = { name: 'act' }
  await ben.accepted({
    id: 'p',
    kind: 'mcp.proposal',
    to: ['tool'],
    payload: { method: 'tools/call', params },
  })
  const body = resume({ ...resolved, payload: { approved: true } })
  expect(await refusal(runs, 'eve', body)).toMatchObject({
    status: 403,
    body: { code: 'capability_violation' },
  })
})

test('where there are several agents, one has to be named', async () => {
  const participants = { ana: ['*'], ben: ['*'], cleo: ['*'], tool: ['*'] }
  const { url, runs } = await stage({ participants })
  const unnamed = await refusal(runs, 'ana', fit)
  expect(unnamed).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: createRefusal('unnamed_agent', { count: 2 }).message },
  })
  expect(await refusal(`${runs}?agent=no one`, 'ana', fit)).toMatchObject({ status: 400 })
  expect(await refusal(`${runs}?agents=ben`, 'ana', fit)).toMatchObject({ status: 400 })
  expect(await refusal(`${runs}?agent=cleo`, 'ana', fit)).toMatchObject({ status: 200 })
  const { envelopes } = await asking(url, 'ana').history('kind=chat')
  expect(envelopes).toMatchObject([{ to: ['cleo'] }])
})

test('pages of allowed origins may ask, others and other methods may not', async () => {
  const { runs } = await stage({ origins: ['http://page.example'] })
  const headers = { origin: 'http://page.example' }
  const preflight = await fetch(runs, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'POST, OPTIONS',
  ])
  expect(await refusal(runs, 'ana', fit, headers)).toMatchObject({ status: 200 })
  expect((await fetch(runs)).status).toBe(405)
})

test('chats by this way count like any other', async () => {
  const rates = { ana: { chat: { perSecond: 0.001, burst: 1 } } }
  const { runs } = await stage({ rates })
  expect(await refusal(runs, 'ana', fit)).toMatchObject({ status: 200 })
  const another = { ...fit, messages: [{ ...question, id: 'q2' }] }
  expect(await refusal(runs, 'ana', another)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
})

test('decisions about more than 64 proposals at once are refused', async () => {
  const { runs } = await stage()
  const resume = Array(65).fill({ interruptId: 'p', status: 'cancelled' })
  expect(await refusal(runs, 'ana', { ...fit, resume })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', path: '/resume' },
  })
})

test('a body that nests on and on is refused', async () => {
  const { runs } = await stage()
  const deep = `{"threadId":"t","runId":"r","messages":[],"x":${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}}`
  expect(await refusal(runs, 'ana', deep)).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
})
