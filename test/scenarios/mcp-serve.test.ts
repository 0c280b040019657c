import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FillIn, type OpenClient, openClient, type ToolResult, ways } from '../support/mcp-clients.js'
import { type McpSpace, openMcpSpace } from '../support/mcp-space.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })
const within = { timeout: 40_000, interval: 20 }

/** The user's reaction to forms: declines, unless a test sets another reaction. */
const ignore: FillIn = () => ({ action: 'decline' })

let space: McpSpace
beforeAll(async () => {
  space = await openMcpSpace()
})
afterAll(() => space[Symbol.asyncDispose]())

const textsOf = ({ content }: ToolResult) => content.map(({ text }) => text)
const codeOf = ({ isError, _meta }: ToolResult) => isError && _meta?.['meup/code']

interface Listed {
  readonly id: string
  readonly from: string
  readonly tool: string
}

describe.each(ways)('a client: %s', (way) => {
  let client: OpenClient
  let fillIn = ignore
  beforeAll(async () => {
    client = await openClient(way, space.cwd, 'desktop', (...form) => fillIn(...form))
  })
  afterAll(() => client.close())

  /** Waits for an undecided proposal, and returns it. */
  const proposed = (): Promise<Listed> =>
    vi.waitFor(async () => {
      const { structuredContent } = await client.call('list_proposals')
      const [proposal] = (structuredContent as { proposals: Listed[] }).proposals
      if (proposal === undefined) return expect.unreachable('nothing is proposed')
      return proposal
    }, within)

  test('asks, hears the thoughts, and reads why and how', async () => {
    const thoughts: unknown[] = []
    const release = space.hold()
    const answer = await client.call(
      'ask',
      { message: 'What is a cake?', to: ['ben'] },
      {
        onprogress({ progress, message }) {
          // Ignore progress that the client library reports about its own requests.
          if (message?.startsWith('Fulfilling')) return
          if (thoughts.push([progress, message]) === 3) release()
        },
      },
    )
    expect(answer.structuredContent).toMatchObject({ from: 'ben', text: 'price: two coins' })
    const { turn, reasoning, audit } = answer.structuredContent as Record<string, string>
    expect(textsOf(answer)).toEqual(['price: two coins', expect.stringContaining(`${reasoning} `)])
    expect(thoughts).toEqual([
      [1, 'ben begins to think: Looking into the shop'],
      [2, 'ben thinks: The price decides'],
      [3, 'ben concludes: That settles it'],
    ])
    expect(reasoning).toBe(`meup://demo/reasoning/ben/${turn}`)
    const why = await client.read(`${reasoning}`)
    expect(why.split('\n')).toEqual([
      `  ┄ Reasoning — thread demo/ben, turn ${turn}`,
      '  Narrative: "The price decides"',
      '',
      '  ┄ price',
      '    rationale: "to price a cake"',
      '    params:    {}',
      '    outcome:   success',
    ])
    expect(await client.read('meup://demo/reasoning/ben')).toBe(why)
    const steps = await client.read(`${audit}`)
    expect(steps).toMatch(/^# Turns of demo[\s\S]*desktop asks: [\s\S]*The price decides[\s\S]*two coins/)
    expect(await client.read('meup://demo/audit')).toContain(steps.slice(steps.indexOf('## Turn')))
  })

  test('says something, and reads the conversation and what was thought', async () => {
    expect(textsOf(await client.call('send', { message: `Hello by ${way}`, to: ['ana'] }))[0]).toMatch(
      /^said as desktop, seq \d+/,
    )
    const { items } = JSON.parse(await client.read('meup://demo/transcript'))
    expect(items.at(-1)).toMatchObject({ source: { from: 'desktop', to: ['ana'] }, text: `Hello by ${way}` })
    const reply = { message: 'Sorry', to: ['ana'], reply_to: items.at(-1).source.id }
    const { structuredContent: replied } = await client.call('send', reply)
    const after = JSON.parse(await client.read('meup://demo/transcript')).items.at(-1)
    expect(after).toMatchObject({ source: { id: replied?.id }, answers: [reply.reply_to] })
    await client.call('ask', { message: 'What is a cake?', to: ['ben'] })
    const contexts = JSON.parse(await client.read('meup://demo/contexts'))
    expect(contexts.items.at(-1)).toMatchObject({ owner: 'ben', state: 'concluded' })
    const { context } = contexts.items.at(-1)
    const one = JSON.parse(await client.read(`meup://demo/contexts/${context}`))
    expect(one).toMatchObject({ context, isWhole: true })
    expect(one.envelopes.map(({ payload }: { payload: { message?: string } }) => payload.message)).toContain(
      'The price decides',
    )
    await expect(client.read('meup://demo/contexts/nothing')).rejects.toThrow(/not_found/)
    await expect(client.read('meup://demo/reasoning/nobody/1')).rejects.toThrow(/not_found/)
  })

  test('uses the tools of others, and is told why it cannot', async () => {
    const { structuredContent: people } = await client.call('list_participants')
    expect(people).toMatchObject({
      you: 'desktop',
      participants: expect.arrayContaining([expect.objectContaining({ id: 'shop', status: 'present' })]),
    })
    // This participant may use the tools of the shop, but not those of ben or of people.
    expect((await client.tools()).filter((name) => name.includes('__'))).toEqual(
      ['price', 'buy', 'slow', 'fail', 'odd', 'sly', 'never'].map((name) => `shop__${name}`),
    )
    const received: unknown[] = []
    const release = space.hold()
    const done = await client.call(
      'shop__slow',
      {},
      {
        why: 'to see',
        onprogress(progress) {
          received.push(progress)
          release()
        },
      },
    )
    expect(done).toMatchObject({
      content: [{ type: 'text', text: 'done' }],
      structuredContent: { done: true },
      _meta: { by: 'shop' },
    })
    expect(received).toEqual([{ progress: 1, total: 2, message: 'half of it' }])
    const failed = await client.call('shop__fail')
    expect(failed).toMatchObject({ isError: true, content: [{ type: 'text', text: 'sold out' }] })

    const odd = await client.call('shop__odd')
    expect(odd.structuredContent).toEqual({ content: [{ type: 'hologram', data: 1 }], more: true })
    fillIn = () => expect.unreachable('a participant has asked the user')
    const sly = await client.call('shop__sly')
    fillIn = ignore
    expect(sly).toMatchObject({ content: [] })
    expect(sly.isError).toBeFalsy()

    const refused = async (name: string, args: object) => codeOf(await client.call(name, args))
    await expect(client.call('nobody__x')).rejects.toMatchObject({ code: -32602 })
    expect(await refused('ask', { message: 'Hm?', to: ['nobody'] })).toBe('participant_not_found')
    const [before, abort] = [space.givenUp.length, new AbortController()]
    const never = client.call('shop__never', {}, { signal: abort.signal, onprogress: () => {} })
    never.catch(() => {})
    await vi.waitFor(() => expect(space.begun).toBeGreaterThan(before), within)
    abort.abort()
    await expect(never).rejects.toThrow()
    await vi.waitFor(
      () => expect(space.givenUp.slice(before)).toEqual(['aborted: the asker has cancelled it']),
      within,
    )
    const wrong = await client.call('ask', { message: 7 })
    expect(codeOf(wrong)).toBe('invalid_request')
  })

  test('takes a question back by cancelling', async () => {
    const before = space.takenBack.length
    const abort = new AbortController()
    const asked = client.call('ask', { message: 'Say nothing', to: ['ben'] }, { signal: abort.signal })
    asked.catch(() => {})
    await vi.waitFor(
      async () =>
        expect(await client.read('meup://demo/transcript')).toMatch(/Say nothing[^{]*}?\s*\]\s*,[^{]*$/),
      within,
    )
    abort.abort()
    await expect(asked).rejects.toThrow()
    await vi.waitFor(
      () => expect(space.takenBack.slice(before)).toEqual(['the asker has cancelled it']),
      within,
    )
  })

  test('decides what is proposed', async () => {
    const before = space.sold()
    const bought = client.call('ask', { message: 'Buy a cake', to: ['ben'] })
    const { id, ...proposal } = await proposed()
    expect(proposal).toMatchObject({ from: 'ben', to: ['shop'], tool: 'buy', rationale: 'to buy a cake' })
    expect(proposal).toMatchObject({ state: 'open', mayApprove: true, mayReject: true })
    const approved = await client.call('decide_proposal', { id, decision: 'approve' })
    expect(textsOf(approved)).toEqual(['sold'])
    expect([textsOf(await bought)[0], space.sold()]).toEqual(['buy: sold', before + 1])
    expect(codeOf(await client.call('decide_proposal', { id, decision: 'approve' }))).toBe(
      'proposal_not_found',
    )

    const another = client.call('ask', { message: 'Buy a pie', to: ['ben'] })
    const rejection = { id: (await proposed()).id, decision: 'reject', reason: 'no pies' }
    expect(textsOf(await client.call('decide_proposal', rejection))).toEqual([`${rejection.id} is rejected`])
    expect(textsOf(await another)[0]).toBe('buy: rejected by desktop: no pies')
  })

  test('shows its user what is proposed', async () => {
    const shown: unknown[] = []
    fillIn = (message, choices) => {
      shown.push([message, choices])
      return { action: 'accept', content: { decision: 'approve' } }
    }
    try {
      const before = space.sold()
      const bought = await client.call('ask', { message: 'Buy a cake', to: ['ben'] })
      expect([textsOf(bought)[0], space.sold()]).toEqual(['buy: sold', before + 1])
      expect(shown).toEqual([
        [
          expect.stringMatching(
            /^ben asks whether buy of shop may be called\nWhy: "to buy a cake"\nAll that is carried out, exactly:\n\{\n {2}"to": \[\n {4}"shop"\n {2}\],\n {2}"method": "tools\/call",[\s\S]*"name": "buy"/,
          ),
          ['approve', 'reject'],
        ],
      ])
      fillIn = ignore
      const another = client.call('ask', { message: 'Buy a pie', to: ['ben'] })
      const { id } = await proposed()
      expect(textsOf(await client.call('decide_proposal', { id }))[0]).toContain('stays open')
      fillIn = () => ({ action: 'accept', content: { decision: 'reject', reason: 'no pies' } })
      expect(textsOf(await client.call('decide_proposal', { id }))).toEqual([`${id} is rejected`])
      expect(textsOf(await another)[0]).toBe('buy: rejected by desktop: no pies')
    } finally {
      fillIn = ignore
    }
  })

  test('is told of changes it has subscribed to, many of them at once', async () => {
    const [transcript, latest] = ['meup://demo/transcript', 'meup://demo/reasoning/ben']
    await client.subscribe([transcript, latest])
    const ana = await space.enter('ana')
    const [before, many] = [client.updates.length, 20]
    for (let n = 0; n < many; n++) await ana.chat(`news ${n}`, { to: ['desktop'] })
    await vi.waitFor(() => expect(client.updates.length).toBeGreaterThan(before), within)
    await client.call('ask', { message: 'What is a cake?', to: ['ben'] })
    const both = new Set([transcript, latest])
    await vi.waitFor(() => expect(new Set(client.updates)).toEqual(both), within)
    expect(client.updates.slice(before).length).toBeLessThan(many)
    ana.close()
  })
})
