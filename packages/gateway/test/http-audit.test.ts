import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { range } from './client.js'
import { asking, bearer } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], ben: ['chat'], cleo: ['chat'], auditor: ['observe.targeted'] }

interface Audit {
  readonly steps: readonly { seq: number; created_at: string }[]
  readonly decisions: readonly (Record<string, unknown> & { seq: number; ts: string })[]
  readonly has_more: boolean
  readonly next?: number
}

/** Ben and cleo alternately send a refused envelope, every two seconds, with a chat of alice after each. */
async function tried(times: number) {
  const clock = new FakeClock()
  const { url, post } = await start({ participants, clock })
  for (const count of range(1, times)) {
    const who = count % 2 === 1 ? 'ben' : 'cleo'
    const { status } = await post(who, { id: `try${count}`, kind: 'x.y', context: 'run', payload: {} })
    expect(status).toBe(403)
    expect((await post('alice', { kind: 'chat', payload: { message: 'hm' } })).status).toBe(201)
    clock.advance(2000)
  }
  const audit = async (query = '', reader = 'auditor') =>
    (await asking(url, reader).json(`/audit${query}`)) as Audit
  return { url, clock, post, audit }
}

const attempts = ({ decisions }: Pick<Audit, 'decisions'>) =>
  decisions.map(({ attempted_id }) => attempted_id)

describe('GET audit', () => {
  test('gives the decisions, the newest first', async () => {
    const { audit } = await tried(3)
    const { steps, decisions, ...rest } = await audit()
    expect([steps.map(({ seq }) => seq), rest]).toEqual([
      decisions.map(({ seq }) => seq),
      { has_more: false },
    ])
    expect(decisions.map(({ seq }) => seq)).toEqual(decisions.map(({ seq }) => seq).toSorted((a, b) => b - a))
    expect(decisions).toHaveLength(3)
    expect(decisions[0]).toEqual({
      id: expect.any(String),
      seq: expect.any(Number),
      ts: '2026-01-01T00:00:04.000Z',
      participant: 'ben',
      decision: 'denied',
      reason_code: 'capability_violation',
      message: expect.stringContaining('ben'),
      attempted_kind: 'x.y',
      attempted_id: 'try3',
      missing: 'x.y',
      context: 'run',
      count: 1,
    })
  })

  test('gives each its own, and all to those who read what is for others, or may restrict them', async () => {
    const { audit } = await tried(4)
    expect(attempts(await audit('', 'ben'))).toEqual(['try3', 'try1'])
    expect(attempts(await audit('', 'cleo'))).toEqual(['try4', 'try2'])
    expect(attempts(await audit('', 'alice'))).toEqual(['try4', 'try3', 'try2', 'try1'])
    expect(attempts(await audit())).toEqual(['try4', 'try3', 'try2', 'try1'])
  })

  test.for([
    ['from=ben', ['try5', 'try3', 'try1']],
    ['from=ben,cleo', ['try5', 'try4', 'try3', 'try2', 'try1']],
    ['from=alice', []],
    ['since=2026-01-01T00:00:04Z', ['try5', 'try4', 'try3']],
    ['since=2026-01-01T00:00:04.001Z', ['try5', 'try4']],
    ['until=2026-01-01T01:00:04%2B01:00', ['try2', 'try1']],
    ['since=2026-01-01T00:00:02Z&until=2026-01-01T00:00:06Z&from=cleo', ['try2']],
  ] as const)('with %s narrows them', async ([query, expected]) => {
    const { audit } = await tried(5)
    expect(attempts(await audit(`?${query}`))).toEqual(expected)
  })

  test('goes by the time of the log, of steps and decisions alike: a clock that is put back takes nothing back', async () => {
    const { audit, clock, post } = await tried(2)
    clock.advance(10_000)
    await post('ben', { id: 'late', kind: 'x.y' })
    clock.advance(-9000)
    await post('cleo', { id: 'put-back', kind: 'x.y' })
    const { decisions } = await audit()
    expect(attempts({ decisions })).toEqual(['put-back', 'late', 'try2', 'try1'])
    expect(decisions.map(({ ts }) => ts.slice(17, 19))).toEqual(['14', '14', '02', '00'])
    for (const [query, expected] of [
      ['since=2026-01-01T00:00:06Z', ['put-back', 'late']],
      ['since=2026-01-01T00:00:14Z', ['put-back', 'late']],
      ['since=2026-01-01T00:00:14.001Z', []],
      ['until=2026-01-01T00:00:14Z', ['try2', 'try1']],
      ['until=2026-01-01T00:00:00Z', []],
      ['since=2026-01-01T00:00:01Z&until=2026-01-01T00:00:14.001Z', ['put-back', 'late', 'try2']],
    ] as const) {
      const found = await audit(`?${query}`)
      expect(attempts(found), query).toEqual(expected)
      expect(found.steps.map(({ seq }) => seq)).toEqual(found.decisions.map(({ seq }) => seq))
    }
    const times = (await audit()).steps.map(({ created_at }) => created_at.slice(17, 19))
    expect(times).toEqual(['14', '14', '02', '00'])
  })

  test('gives them page by page', async () => {
    const { url, audit } = await tried(7)
    const found: unknown[] = []
    let path = '/audit?limit=2&from=ben'
    for (;;) {
      const response = await asking(url, 'auditor').get(path)
      const page = (await response.json()) as Audit
      found.push(...attempts(page))
      expect(page.has_more).toBe(page.next !== undefined)
      if (page.next === undefined) break
      const link = /^<(\?[^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      expect(new URLSearchParams(link).get('before')).toBe(`${page.next}`)
      path = `/audit${link}`
    }
    expect(found).toEqual(['try7', 'try5', 'try3', 'try1'])
    expect((await audit('?limit=4')).decisions).toHaveLength(4)
  })

  test('says where to go on by what its reader may read alone', async () => {
    const { url, post } = await start({ participants: { ben: ['*'], cleo: ['chat'] } })
    const thoughts = [{}, { to: ['ben'] }, {}, { to: ['ben'] }, { to: ['ben'] }, {}]
    const said = thoughts.map((more, n) => ({
      id: `t${n}`,
      kind: 'reasoning.thought',
      context: 'run',
      payload: { message: `${n}` },
      ...more,
    }))
    await post('ben', [{ id: 'run', kind: 'reasoning.start' }, ...said])
    const pages: (number | undefined)[][] = []
    for (let before = ''; ; ) {
      const { steps, next } = (await asking(url, 'cleo').json(`/audit?limit=1${before}`)) as Audit
      pages.push([...steps.map(({ seq }) => seq), next])
      if (next === undefined) break
      before = `&before=${next}`
    }
    const [shown, places] = [pages.map(([seq]) => seq), pages.map((page) => page.at(-1))]
    expect(pages.length).toBeGreaterThan(2)
    expect(places.slice(0, -1)).toEqual(shown.slice(0, -1))
  })

  test('counts what was decided alike', async () => {
    const { audit, post, clock } = await tried(0)
    for (const _ of range(1, 5)) await post('ben', { kind: 'x.y' })
    clock.advance(1000)
    await post('alice', { kind: 'chat', payload: { message: 'after' } })
    expect((await audit()).decisions.map(({ count }) => count)).toEqual([4, 1])
  })

  test.for([
    'since=yesterday',
    'since=2026-13-01T00:00:00Z',
    'until=7',
    'limit=1001',
    'turn=1',
    'order=asc',
    'from=a+b',
  ])('refuses %s', async (query) => {
    const { url } = await start({ participants })
    const response = await asking(url, 'alice').get(`/audit?${query}`)
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_request' }])
  })

  test('is for participants', async () => {
    const { url } = await start({ participants })
    expect((await fetch(`${url}/spaces/test/audit`)).status).toBe(401)
    expect((await fetch(`${url}/spaces/none/audit`, { headers: bearer('alice') })).status).toBe(404)
  })
})
