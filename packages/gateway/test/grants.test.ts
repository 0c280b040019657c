import { Grants } from '@meup/folds'
import { memoryStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import type { Capability } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { byId, errorFor, range, type Sent } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { open } from './grant-space.js'
import { act, answer, chat, codeOf, grant, revoke, update, welcomes, welcomeWith } from './trust.js'

describe('a grant', () => {
  test('lets its recipient do what it says and nothing else, from the next envelope on', async () => {
    const { lead, ann } = await open()
    expect(await codeOf(ann, act('work.dig'))).toBe('capability_violation')
    await lead.accepted(grant('ann', ['work.dig']))
    await ann.accepted(act('work.dig'))
    expect(await codeOf(ann, act('work.fill'))).toBe('capability_violation')
    expect(await codeOf(ann, chat())).toBe('capability_violation')
  })

  test('counts before it is in the log, and not at all if it never gets there', async () => {
    const disk = faultyDisk(memoryStore())
    const { connect, lead, ann, ben } = await open({ store: disk.store })
    const first = disk.stall()
    lead.send({ id: 'g1', ...grant('ann', ['work.dig']) })
    await first.appending
    ann.send({ id: 'w1', ...act('work.dig') })
    await ann.subscribe({})
    first.goOn()
    await ann.next(byId('w1'))

    const second = disk.stall()
    lead.send({ id: 'g2', ...grant('ben', ['work.dig']) })
    await second.appending
    ben.send({ id: 'w2', ...act('work.dig') })
    await ben.subscribe({})
    const late = await connect('ben')
    expect(late.welcome.you.capabilities).toEqual(['work.dig'])
    second.fail()
    expect(await ben.next(errorFor('w2'))).toMatchObject({ payload: { code: 'unavailable' } })
    await lead.next(errorFor('g2'))
    await late.next(welcomeWith([]))
    await lead.accepted(chat('it goes on'))
    expect(await codeOf(ben, act('work.dig'))).toBe('capability_violation')
    expect(welcomes(ben).map(({ payload }) => payload.you)).toEqual(
      Array(2).fill({ id: 'ben', capabilities: [] }),
    )
  })

  test('is told to every connection of its recipient by a welcome, and to everybody by presence', async () => {
    const { connect, lead, ann, ben } = await open()
    const second = await connect('ann')
    const given = await lead.accepted(grant('ann', ['work.dig', { kind: 'chat', to: 'lead' }]))
    const capabilities = ['work.dig', { kind: 'chat', to: 'lead' }]
    for (const client of [ann, second]) await client.next(welcomeWith(capabilities))
    for (const client of [lead, ann, ben]) {
      const received = await client.next(update('ann', capabilities))
      expect(received.seq).toBeGreaterThan(given.seq)
    }
    await lead.accepted(chat('mark'))
    expect([ann, second, lead, ben].map((client) => welcomes(client).length)).toEqual([2, 2, 1, 1])
  })

  test('is told once, however many come at once', async () => {
    const { post, root, ann } = await open()
    const kinds = ['a.x', 'b.x', 'c.x']
    expect(
      (
        await post(
          'root',
          kinds.map((kind) => grant('ann', [kind])),
        )
      ).status,
    ).toBe(201)
    await ann.next(update('ann', kinds))
    await root.accepted(grant('ben', ['a.x']))
    await root.next(update('ben'))
    await ann.next(update('ben'))
    expect(welcomes(ann)).toHaveLength(2)
    expect(root.frames.filter(update('ann'))).toHaveLength(1)
  })

  test('opens what is addressed to others at once, and its end closes it at once', async () => {
    const { root, ann, ben } = await open()
    const whisper = (id: string) => root.send({ ...chat(id), id, to: ['ben'] })
    whisper('before')
    root.send({ id: 'g', ...grant('ann', ['observe.targeted']) })
    whisper('meanwhile')
    await ben.next(byId('meanwhile'))
    root.send(revoke('ann', { grantId: 'g' }))
    whisper('after')
    await root.accepted(chat('mark'))
    await ben.next(byId('after'))
    await ann.next(({ payload }) => payload.message === 'mark')
    const heard = ann.frames.flatMap(({ id, to }) => (to?.includes('ben') ? [id] : []))
    expect(heard.filter((id) => id !== 'before')).toEqual(['meanwhile'])
  })

  test('opens them on streams of events as well', async () => {
    const { url, root } = await open()
    const headers = { authorization: `Bearer ${testToken('ann')}` }
    const events = await fetch(`${url}/spaces/test/events`, { headers })
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (what: string): Promise<void> => {
      while (!text.includes(what)) text += (await reader?.read())?.value ?? ''
    }
    await root.accepted(grant('ann', ['observe.targeted']))
    await until('"update"')
    await root.accepted({ id: 'whisper', ...chat(), to: ['ben'] })
    await until('"whisper"')
    await reader?.cancel()
  })

  test('may be passed on, as far as it goes', async () => {
    const { lead, ann, ben } = await open()
    await lead.accepted(grant('ann', ['work.dig', 'capability.grant']))
    expect(await ann.refused(grant('ben', ['work.dig', 'work.fill']))).toMatchObject({
      code: 'grant_exceeds_own',
      details: { path: '/payload/capabilities/1', index: 1, capability: 'work.fill' },
    })
    await ann.accepted(grant('ben', [{ kind: 'work.dig', context: 'garden' }]))
    await ben.accepted(act('work.dig', { context: 'garden' }))
    expect(await codeOf(ben, act('work.dig'))).toBe('capability_violation')
  })
})

describe('what is refused', () => {
  const patterns = Array.from({ length: 65 }, (_, i) => `p${i}`)
  test.for<[string, string | undefined, Sent]>([
    ['forbidden', '/payload/recipient', grant('root', ['chat'])],
    ['participant_not_found', '/payload/recipient', grant('nobody', ['chat'])],
    ['invalid_payload', '/payload/recipient', grant('no body', ['chat'])],
    ['invalid_payload', '/payload/capabilities/0/kind', grant('ann', [{ kind: 're:(' }])],
    ['invalid_payload', '/payload/capabilities/1', grant('ann', ['chat', '!!x'])],
    ['invalid_payload', '/payload/capabilities/0/when', grant('ann', [{ kind: 'x', when: 'now' } as never])],
    ['invalid_payload', '/payload/capabilities/0/to/63', grant('ann', [{ kind: 'x', to: patterns }])],
    ['invalid_payload', '/payload/capabilities/0', grant('ann', ['x'.repeat(513)])],
    ['invalid_payload', '/payload/capabilities', grant('ann', Array(257).fill('x'))],
    ['invalid_payload', '/payload/expiresAt', grant('ann', ['x'], { expiresAt: '2001-01-01T00:00:00Z' })],
    ['invalid_payload', '/payload/expiresAt', grant('ann', ['x'], { expiresAt: '2999-13-01T00:00:00Z' })],
    ['invalid_payload', '/payload/expiresAt', grant('ann', ['x'], { expiresAt: 'tomorrow' })],
    ['not_found', '/payload/grantId', revoke('ann', { grantId: 'never' })],
    ['not_found', '/payload/grantId', revoke('ben', { grantId: 'for-ann' })],
    ['not_found', '/payload/capabilities', revoke('ann', { capabilities: ['chat'] })],
    ['not_found', '/payload/capabilities', revoke('ben', { capabilities: ['*'] })],
    ['invalid_payload', '/payload/capabilities/0', revoke('ann', { capabilities: ['re:('] })],
    ['invalid_payload', '/payload', revoke('ann', { grantId: 'for-ann', capabilities: ['*'] })],
    ['not_found', '/correlationId', answer('never', 'accepted')],
    ['forbidden', undefined, answer('for-ann', 'declined')],
    ['invalid_payload', '/payload/status', answer('for-root', 'maybe')],
  ])('%s at %s: %j', async ([code, path, sent]) => {
    const { root, lead, ann } = await open()
    await root.accepted({ id: 'for-ann', ...grant('ann', ['work.dig']) })
    await lead.accepted({ id: 'for-root', ...grant('root', ['work.dig']) })
    const refused = await root.refused(sent)
    expect(refused).toMatchObject({ code, message: expect.stringMatching(/\w/) })
    expect(refused.details?.path).toBe(path)
    await ann.accepted(act('work.dig'))
  })

  test('a grant without the capability for it, and more than is held', async () => {
    const { lead, ann } = await open()
    expect(await codeOf(ann, grant('ben', []))).toBe('capability_violation')
    for (const capability of ['*', 'play.ball', { kind: 'w*' }, 'observe.targeted', 're:work.dig']) {
      expect(await codeOf(lead, grant('ann', [capability]))).toBe('grant_exceeds_own')
    }
  })

  test('more than 256 granted capabilities, and more regular expressions than one list may have', async () => {
    const { root, ann } = await open()
    const many = Array.from({ length: 200 }, (_, i) => `k${i}.x`)
    await root.accepted(grant('ann', many))
    expect(await root.refused(grant('ann', many.slice(0, 57)))).toMatchObject({
      code: 'forbidden',
      message: fillIn(texts.manyCapabilities, { to: 'ann', capabilities: 257, maximum: 256 }),
    })
    await root.accepted(grant('ann', many.slice(0, 56)))
    const large = Array.from({ length: 5 }, (_, i) => `re:${'a'.repeat(490)}{2}${i}`)
    await root.accepted(grant('ben', [...large, ...large]))
    expect(await root.refused(grant('ben', [...large, ...large]))).toMatchObject({
      code: 'forbidden',
      message: fillIn(texts.costlyCapabilities, { to: 'ben' }),
    })
    await ann.accepted(act('k199.x'))
  })

  test('more text than 8 KiB, at once or in all', async () => {
    const { root } = await open()
    const long = (count: number) => Array.from({ length: count }, (_, i) => `${'x'.repeat(500)}${i}`)
    expect(await root.refused(grant('ann', long(17)))).toMatchObject({
      code: 'invalid_payload',
      details: { path: '/payload/capabilities' },
    })
    expect(await codeOf(root, revoke('ann', { capabilities: long(17) }))).toBe('invalid_payload')
    await root.accepted(grant('ann', long(12)))
    expect(await codeOf(root, grant('ann', long(5)))).toBe('forbidden')
    await root.accepted(grant('ben', long(12)))
  })

  test('more than 256 standing grants of one, so that others can grant, and 1000 of all', async () => {
    const { post, root, ann, ben } = await open()
    const give = async (sender: string, count: number): Promise<void> => {
      const recipient = sender === 'root' ? 'lead' : 'root'
      const grants = range(1, count).map(() => grant(recipient, []))
      expect((await post(sender, grants)).status).toBe(201)
    }
    for (const other of ['ann', 'ben']) await root.accepted(grant(other, ['capability.grant']))
    await give('root', 253)
    const last = await root.accepted(grant('ann', ['work.x']))
    expect(await root.refused(grant('ann', []))).toMatchObject({
      message: fillIn(texts.ownOpenGrants, { from: 'root', grants: 256 }),
    })
    await give('lead', 256)
    await give('ann', 256)
    await give('ben', 232)
    expect(await ben.refused(grant('root', []))).toMatchObject({
      message: fillIn(texts.openGrants, { grants: 1000 }),
    })
    await root.accepted(revoke('ann', { grantId: last.id }))
    await root.accepted(grant('ann', []))
    expect(await codeOf(ann, grant('root', []))).toBe('forbidden')
  })
})

test('what one grantor has given falls where proving it again takes too much work; what others gave stands', () => {
  const globs = range(1, 60).map((count) => `*${count.toString(36)}?`)
  const costly = range(1, 17).map((count) => ({
    kind: 'chat',
    payload: { message: [...globs, `?x${count}*`] },
  }))
  const grants = new Grants({ configured: () => [] })
  const give = (id: string, grantor: string, recipient: string, capabilities: Capability[]): void =>
    grants.add({ id, grantor, recipient, capabilities })
  give('lost-by-eve', 'root', 'eve', ['x.y'])
  give('kept-by-eve', 'root', 'eve', costly)
  give('costly', 'eve', 'ann', costly)
  give('lost-by-ben', 'root', 'ben', ['x.y'])
  give('kept-by-ben', 'root', 'ben', ['chat'])
  give('cheap', 'ben', 'cas', ['chat'])
  const { work } = grants
  expect(work).toBeLessThan(6 * 1_100)
  grants.fall(({ id }) => id.startsWith('lost'))
  expect(grants.list().map(({ id }) => id)).toEqual(['kept-by-eve', 'kept-by-ben', 'cheap'])
  expect(grants.work - work).toBeGreaterThan(5_000)
  expect(grants.work - work).toBeLessThan(6_000)
})
