import { InterruptSchema } from '@ag-ui/core/schemas'
import { FakeClock } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import type { Sent } from '../../gateway/test/client.js'
import { erase } from '../../gateway/test/erasing.js'
import { asking } from '../../gateway/test/http-client.js'
import {
  answer,
  beginTurn,
  humans,
  outside,
  Page,
  participants,
  propose,
  refusal,
  serveNext,
  stage,
  user,
} from './stage.js'

const long = { name: 'act', arguments: { command: `${'-'.repeat(20_000)}; rm -rf ~` } }
const approve = (interruptId: string) => ({
  interruptId,
  status: 'resolved' as const,
  payload: { approved: true },
})
const reject = (interruptId: string) => ({ ...approve(interruptId), payload: { approved: false } })
const calling = (params: object, more: object = {}): Sent => ({
  payload: { method: 'tools/call', params, ...more },
})

/** A run request that answers interrupts in the thread of `Page`. */
const resuming = (...resume: object[]) => ({
  threadId: 'thread',
  runId: 'r',
  messages: [user('q1', 'please do')],
  resume,
})

/** A run of ana that ended with interrupts for these proposals of ben. `write`: changes the JSON of a proposal. */
async function interrupted(
  proposals: Record<string, Sent>,
  options: Parameters<typeof stage>[0] = {},
  write = (json: string) => json,
) {
  const staged = await stage(options)
  const { url, ben } = staged
  const first = new Page(url, 'ana')
  const running = first.run()
  const question = await beginTurn(ben)
  for (const [id, more] of Object.entries(proposals)) {
    ben.send(write(JSON.stringify(propose(id, more))))
    await ben.next((envelope) => envelope.id === id)
  }
  await running
  const page = new Page(url, 'ana')
  await page.run()
  const requests = async () => (await asking(url, 'ana').history('kind=mcp.request')).envelopes
  return { ...staged, page, question, interrupts: page.agent.pendingInterrupts, requests }
}

describe('an interrupt', () => {
  test('has all that is approved, unmasked, in its message and as metadata', async () => {
    const { interrupts } = await interrupted({ p1: {} })
    const [interrupt] = interrupts
    const { message = '', metadata } = InterruptSchema.parse(interrupt)
    const { exact, isWhole } = metadata as { exact: string; isWhole: boolean }
    expect(isWhole).toBe(true)
    expect(JSON.parse(exact)).toEqual({
      to: ['tool'],
      method: 'tools/call',
      context: 'run',
      params: { name: 'act', arguments: { amount: 12, apiKey: 'hush' } },
    })
    expect(message.endsWith(`\n${exact}`)).toBe(true)
  })

  /** An AG-UI run that was interrupted by a proposal which belongs to the question, but not to a reasoning context. */
  async function waiting() {
    const eraser = ['*', 'space.erase', 'observe.targeted']
    const staged = await stage({ participants: { ...participants, eraser }, humans: [...humans, 'eraser'] })
    const { url, ben } = staged
    const running = new Page(url, 'ana').run()
    const { id } = await ben.next(({ kind }) => kind === Kind.chat)
    const { seq } = await ben.accepted(outside(propose('p1'), id))
    await running
    const interrupts = async () => {
      const page = new Page(url, 'ana')
      await page.run({ timeoutSeconds: 1 }).catch(() => {}) // Without interrupts the run times out.
      return page.agent.pendingInterrupts
    }
    return { ...staged, interrupts, seq }
  }

  test('says that the program of its proposer has ended', async () => {
    const { endBen, interrupts, url } = await waiting()
    await endBen()
    const presence = async () => (await asking(url, 'ana').history('kind=system.presence')).envelopes
    await expect.poll(async () => JSON.stringify(await presence())).toContain('"event":"ended"')
    expect(await interrupts()).toMatchObject([
      { message: expect.stringContaining('ben stopped: its program ended; no one waits for the result.') },
    ])
  })

  test.for([
    ['its proposer is kicked', { kind: 'space.kick', payload: { participantId: 'ben', reason: 'enough' } }],
    ['it is erased', undefined],
  ] as const)('is not there when %s', async ([, kick]) => {
    const { interrupts, post, url, seq } = await waiting()
    expect(await interrupts()).toHaveLength(1)
    if (kick !== undefined) expect((await post('ana', kick)).status).toBe(201)
    else expect((await erase(url, { seq, reason: 'too much' }, 'eraser')).status).toBe(201)
    expect(await interrupts()).toEqual([])
  })

  test('masks its arguments in the call that everybody is shown', async () => {
    const { page } = await interrupted({ p1: {} })
    expect(page.shown.at(-1)).toBe('assistant act{"amount":12,"apiKey":"[redacted]"}')
  })

  test.for<[what: string, params: object, shown: string]>([
    ['a bidi override', { name: 'act', arguments: { to: 'ana\u202Eeve' } }, '"ana\\u202eeve"'],
    ['a zero-width space', { name: 'act', arguments: { to: 'a\u200Bna' } }, '"a\\u200bna"'],
    ['a line break in a name', { name: 'act', arguments: { 'a\n"to': 1 } }, '"a\\n\\"to": 1'],
    ['a letter that looks like another', { name: 'act', arguments: { to: 'аna' } }, '"\\u0430na"'],
  ])('spells out %s', async ([_, params, shown]) => {
    const { interrupts } = await interrupted({ p1: calling(params) })
    expect(interrupts).toMatchObject([
      { message: expect.stringContaining(shown), metadata: { isWhole: true } },
    ])
  })

  test('has numbers to the last digit, and they are carried out so', async () => {
    const digits = (json: string) => json.replace('"amount":12', '"amount":12345678901234567890')
    const { interrupts, runs, url } = await interrupted({ p1: {} }, {}, digits)
    expect(interrupts).toMatchObject([{ message: expect.stringContaining('"amount": 12345678901234567890') }])
    expect(await refusal(runs, 'ana', resuming(approve('p1')))).toMatchObject({ status: 200 })
    const [line] = await asking(url, 'ana').lines('kind=mcp.request')
    expect(line).toContain('"amount":12345678901234567890')
  })

  test('has how often and until when', async () => {
    const clock = new FakeClock()
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const { interrupts } = await interrupted(
      { p1: calling({ name: 'act' }, { uses: 3, expiresAt }) },
      { clock },
    )
    expect(JSON.parse(String(interrupts[0]?.metadata?.exact))).toMatchObject({ uses: 3, expiresAt })
  })

  test('has a reason that does not pass for what is carried out', async () => {
    const rationale = `All that is carried out, exactly:\n{"to": ["bank"]}${' '.repeat(100_000)}`
    const { interrupts } = await interrupted({ p1: { rationale } })
    const lines = interrupts[0]?.message?.split('\n') ?? []
    expect(lines.filter((line) => line.startsWith('All that'))).toHaveLength(1)
    expect(lines[1]?.length).toBeLessThan(1100)
  })

  test('of what is too long asks for a rejection alone', async () => {
    const { interrupts } = await interrupted({ p1: calling(long) })
    expect(interrupts).toMatchObject([
      {
        message: expect.stringContaining('meup proposals show p1'),
        responseSchema: { properties: { approved: { enum: [false] } } },
        metadata: { isWhole: false },
      },
    ])
    expect(interrupts[0]?.metadata).not.toHaveProperty('exact')
  })

  test('does not come to a client that could neither approve nor reject', async () => {
    const participants = { ana: ['chat', 'mcp.request'], eve: [], ben: ['*'], tool: ['*'] }
    const { url, ben } = await stage({ participants, humans: ['ana', 'eve', 'tool'] })
    const page = new Page(url, 'ana')
    const running = page.run()
    const question = await beginTurn(ben)
    await ben.accepted(propose('p1', calling(long)))
    await ben.accepted(answer(question))
    await running
    expect(page.agent.pendingInterrupts).toEqual([])
    expect(page.shown.at(-1)).toBe('assistant done')
  })

  test('comes for what somebody else has rejected, and not for what its user has, though others may approve it', async () => {
    const { url, ben, question, connect } = await interrupted(
      { p1: {} },
      { participants: { ...participants, finn: ['*', 'observe.targeted'] }, humans: [...humans, 'finn'] },
    )
    const finn = await connect('finn')
    await finn.accepted({ kind: 'mcp.reject', to: ['ben'], correlationId: 'p1', payload: { reason: 'no' } })
    expect((await asking(url, 'ana').history('kind=mcp.reject')).envelopes).toMatchObject([{ from: 'finn' }])
    const page = new Page(url, 'ana')
    const asked = page.run()
    await expect.poll(() => page.agent.pendingInterrupts).toMatchObject([{ id: 'p1' }])
    await asked

    const resumed = page.run({}, [reject('p1')])
    await ben.next(({ kind, from }) => kind === 'mcp.reject' && from === 'ana')
    await ben.accepted(answer(question))
    await resumed
    expect(page.agent.pendingInterrupts).toEqual([])
    expect(await asking(url, 'tool').json('/proposals')).toMatchObject({
      proposals: [{ id: 'p1', rejectedBy: ['finn', 'ana'] }],
    })
  })

  test('comes for at most 64 proposals at once, the others with the next run', async () => {
    const many = Object.fromEntries(Array.from({ length: 66 }, (_, n) => [`p${n}`, {}]))
    const { page, interrupts, url } = await interrupted(many)
    expect(interrupts.map(({ id }) => id)).toEqual(Object.keys(many).slice(0, 64))
    await page.run(
      {},
      interrupts.map(({ id }) => reject(id)),
    )
    expect(page.agent.pendingInterrupts).toMatchObject([{ id: 'p64' }, { id: 'p65' }])
    expect((await asking(url, 'ana').history('kind=mcp.reject&limit=100')).envelopes).toHaveLength(64)
  })
})

describe('an approval', () => {
  test('of what was not shown whole is refused with the path of the answer, and nothing is carried out', async () => {
    const { runs, requests, url } = await interrupted({ p1: {}, p2: calling(long) })
    expect(await refusal(runs, 'ana', resuming(approve('p1'), approve('p2')))).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', path: '/resume/1/payload/approved' },
    })
    expect(await requests()).toEqual([])
    expect((await asking(url, 'ana').history('kind=chat')).envelopes).toHaveLength(1)
  })

  test('of what was not shown whole is refused in any thread', async () => {
    const { runs, requests } = await interrupted({ p1: calling(long) })
    const elsewhere = { ...resuming(approve('p1')), threadId: 'another' }
    expect(await refusal(runs, 'ana', elsewhere)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', path: '/resume/0/payload/approved' },
    })
    expect(await requests()).toEqual([])
  })

  test('of what was shown whole goes on beside the rejection of what was not', async () => {
    const { ben, tool, page, question, requests } = await interrupted({ p1: {}, p2: calling(long) })
    const served = serveNext(tool)
    const resumed = page.run({}, [approve('p1'), reject('p2')])
    await served
    const rejected = await ben.next(({ kind }) => kind === 'mcp.reject')
    expect(rejected).toMatchObject({ correlationId: 'p2' })
    await ben.accepted(answer(question))
    await resumed
    expect(page.shown).toEqual(expect.arrayContaining(['tool acted', 'tool not approved', 'assistant done']))
    expect(await requests()).toMatchObject([{ correlationId: 'p1' }])
  })

  test('by a user who may not make the request is refused before anything is asked', async () => {
    const auditor = [...(participants.eve ?? []), 'observe.targeted']
    const { runs, requests, url } = await interrupted(
      { p1: {} },
      { participants: { ...participants, eve: auditor, finn: ['chat'] }, humans: [...humans, 'finn'] },
    )
    expect(await refusal(runs, 'eve', resuming(approve('p1')))).toMatchObject({
      status: 403,
      body: { code: 'capability_violation', path: '/resume/0/payload/approved' },
    })
    // The response does not reveal the proposal to a participant that may not read it.
    expect(await refusal(runs, 'finn', resuming(approve('p1')))).toMatchObject({
      status: 404,
      body: { code: 'proposal_not_found', path: '/resume/0/interruptId' },
    })
    expect(await requests()).toEqual([])
    expect((await asking(url, 'ana').history('kind=chat&from=eve')).envelopes).toEqual([])
  })

  test('of a proposal that has expired carries out nothing, and the run goes on', async () => {
    const clock = new FakeClock()
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const { url, ben, question, requests } = await interrupted(
      { p1: calling({ name: 'act' }, { expiresAt }) },
      { clock },
    )
    clock.advance(1000)
    // The client of the first page, `HttpAgent`, refuses to answer an expired interrupt, so a new page answers it.
    const again = new Page(url, 'ana')
    const resumed = again.run({}, [approve('p1')])
    await ben.accepted(answer(question, 'too late'))
    await resumed
    expect(again.shown.at(-1)).toBe('assistant too late')
    expect(await requests()).toEqual([])
  })

  test('of an envelope that is no proposal is refused', async () => {
    const { runs, question } = await interrupted({ p1: {} })
    expect(await refusal(runs, 'ana', resuming(approve(question)))).toMatchObject({
      status: 404,
      body: { code: 'proposal_not_found', path: '/resume/0/interruptId' },
    })
  })
})
