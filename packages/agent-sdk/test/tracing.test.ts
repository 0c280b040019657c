import { readEnvironment } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { formatTraceparent, getSpanId, getTraceId } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants = {
  ana: ['*'],
  bot: ['*'],
  tools: ['*'],
  helper: ['reasoning.*', 'mcp.proposal'],
}
const foreign = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

/** A space with a tool that returns the `_meta` of its call. `tracing`: the option of all clients but ana's. */
async function spaceWith(tracing: boolean) {
  const space = await createTestSpace({ participants })
  const ana = await space.join('ana')
  const [bot, helper, tools] = await Promise.all(
    ['bot', 'helper', 'tools'].map((id) => space.join(id, { tracing })),
  )
  if (bot === undefined || helper === undefined || tools === undefined) throw new Error('nobody is there')
  const heard = recordEnvelopes(ana)
  tools.tool('meta', {}, (_, { request }) => ({ meta: request.payload.params?._meta ?? null }))
  const { epoch } = ana.welcome.space
  const place = (trace: string, span: string): string =>
    formatTraceparent({ traceId: getTraceId(epoch, trace), spanId: getSpanId(epoch, span) })
  const requests = async () => {
    await caughtUp(ana, heard)
    return heard.all.flatMap((each) => (each.kind === 'mcp.request' ? each : []))
  }
  return { ana, bot, helper, tools, place, requests, [Symbol.asyncDispose]: () => space.close() }
}

describe('a participant that traces', () => {
  test('tells the tools it calls which call this is, in the trace of the run', async () => {
    await using here = await spaceWith(true)
    const run = await here.bot.reason()
    const nested = await run.reason()
    const { data } = await nested.call('tools/meta', {}, { why: 'to see it', onProgress: () => {} })
    const [request] = await here.requests()
    expect(data).toEqual({
      meta: { progressToken: request?.id, traceparent: here.place(run.context, request?.id ?? '') },
    })
  })

  test('tells which context any other request was made in, and nothing where there is none', async () => {
    await using here = await spaceWith(true)
    const run = await here.bot.reason()
    await here.bot.request('tools', 'tools/list', {}, { context: run.context })
    await here.bot.request('tools', 'tools/list')
    expect((await here.requests()).map(({ payload }) => payload.params)).toEqual([
      { _meta: { traceparent: here.place(run.context, run.context) } },
      {},
    ])
  })

  test('keeps what the caller has put there', async () => {
    await using here = await spaceWith(true)
    const _meta = { traceparent: foreign, tracestate: 'some=state' }
    await here.bot.request('tools', 'tools/call', { name: 'meta', _meta })
    const [request] = await here.requests()
    expect(request?.payload.params).toEqual({ name: 'meta', _meta })
  })

  test('goes on in the trace of whom it works for', async () => {
    await using here = await spaceWith(true)
    here.tools.tool('ask', {}, async (_, { reason }) => {
      const run = await reason()
      await run.call('bot/answer', {}, { why: 'it knows' })
      await run.conclude()
      return ''
    })
    here.bot.tool('answer', {}, () => '42')
    await here.ana.request('tools', 'tools/call', { name: 'ask', _meta: { traceparent: foreign } })
    const [, second] = await here.requests()
    expect(second?.payload.params?._meta).toMatchObject({
      traceparent: expect.stringMatching(`^00-${'a'.repeat(32)}-`),
    })
  })

  test('says it in what it proposes, and so in what is done about it', async () => {
    await using here = await spaceWith(true)
    const run = await here.helper.reason()
    here.ana.proposals.on('proposal', ({ id }) => void here.ana.proposals.approve(id))
    const { data } = await run.call('tools/meta', {}, { why: 'it may not' })
    const [request] = await here.requests()
    expect(request?.from).toBe('ana')
    expect(data).toEqual({ meta: { traceparent: here.place(run.context, String(request?.correlationId)) } })
  })
})

test('a participant that does not trace adds nothing', async () => {
  await using here = await spaceWith(false)
  const run = await here.bot.reason()
  const { data } = await run.call('tools/meta', {}, { why: 'to see it' })
  expect(data).toEqual({ meta: null })
})

test('the environment says whether to trace, unless the program does', () => {
  const where = { url: 'http://127.0.0.1:1', space: 'demo', token: 'x', session: 's1', transcripts: '/tmp' }
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  expect(readEnvironment(where, env)).toEqual({ ...where, tracing: true })
  expect(readEnvironment(where, {})).toEqual(where)
  expect(readEnvironment({ ...where, tracing: true }, {})).toEqual({ ...where, tracing: true })
  expect(readEnvironment({ ...where, tracing: false }, env)).toEqual({ ...where, tracing: false })
})
