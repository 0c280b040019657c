import { memoryStore, sqliteStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { faultyDisk } from './faulty-disk.js'
import { open, participants } from './grant-space.js'
import { temporaryFile } from './support.js'
import {
  act,
  answer,
  chat,
  codeOf,
  grant,
  reconfigure,
  revoke,
  update,
  welcomes,
  welcomeWith,
} from './trust.js'

describe('a revocation', () => {
  test('by the grantor needs no capability, and takes back that grant alone', async () => {
    const { lead, ann } = await open()
    const { id } = await lead.accepted(grant('ann', ['work.dig']))
    await lead.accepted(grant('ann', ['work.fill']))
    await lead.accepted(revoke('ann', { grantId: id }))
    await ann.next(welcomeWith(['work.fill']))
    expect(await codeOf(ann, act('work.dig'))).toBe('capability_violation')
    await ann.accepted(act('work.fill'))
    expect(await codeOf(lead, revoke('ann', { grantId: id }))).toBe('capability_violation')
  })

  test('by capabilities takes back what they cover: of the grantor its own', async () => {
    const { root, lead, ann } = await open()
    await root.accepted(grant('ann', ['work.dig']))
    await lead.accepted(grant('ann', ['work.dig']))
    await lead.accepted(grant('ann', ['work.fill', 'chat']))
    await lead.accepted(revoke('ann', { capabilities: ['work.*'] }))
    await ann.next(welcomeWith(['work.dig', 'work.fill', 'chat']))
    expect(await codeOf(lead, revoke('ann', { capabilities: ['work.*'] }))).toBe('not_found')
    expect(await codeOf(lead, revoke('ben', { capabilities: ['*'] }))).toBe('capability_violation')
    await root.accepted(revoke('ann', { capabilities: ['*'] }))
    await ann.next(welcomeWith([]))
  })

  test('of what others gave takes a configured capability for it; a granted one is not enough', async () => {
    const { lead, root, ann, ben } = await open()
    const { id } = await lead.accepted(grant('ben', ['work.dig']))
    expect(await codeOf(ann, revoke('ben', { grantId: id }))).toBe('capability_violation')
    await root.accepted(grant('ann', ['capability.revoke']))
    expect(await codeOf(ann, revoke('ben', { grantId: id }))).toBe('forbidden')
    expect(await codeOf(ann, revoke('ben', { capabilities: ['*'] }))).toBe('not_found')
    await ben.accepted(act('work.dig'))
    await root.accepted(revoke('ben', { grantId: id }))
    expect(await codeOf(ben, act('work.dig'))).toBe('capability_violation')
  })

  test('by capabilities is logged with the grants that it takes back, and a replay under a lower limit takes the same', async () => {
    const path = temporaryFile('space.db')
    const { root, lead, ann, close } = await open({ store: await sqliteStore({ path }) })
    const { id } = await lead.accepted(grant('ann', ['work.fill', 'chat']))
    await lead.accepted(grant('ann', ['work.dig']))
    const { payload } = await root.accepted(revoke('ann', { capabilities: ['work.f*', 'chat'] }))
    expect(payload).toEqual({ recipient: 'ann', capabilities: ['work.f*', 'chat'], revoked: [id] })
    await ann.next(welcomeWith(['work.dig']))
    const forged = { capabilities: ['*'], revoked: [] }
    expect(await codeOf(root, revoke('ann', forged))).toBe('invalid_payload')
    await close()
    const { ann: later } = await open({ store: await sqliteStore({ path }), limits: { work: 1 } })
    expect(later.welcome.you.capabilities).toEqual(['work.dig'])
  })

  test('never takes what the operator gave', async () => {
    const { root, lead } = await open()
    expect(await codeOf(root, revoke('lead', { capabilities: ['*'] }))).toBe('not_found')
    await lead.accepted(act('work.dig'))
  })

  test('takes with it what rested on it, and everybody it hits is told', async () => {
    const { lead, root, ann, ben } = await open()
    const { id } = await lead.accepted(grant('ann', ['work.*', 'capability.grant']))
    await ann.accepted(grant('ben', ['work.dig']))
    await root.accepted(grant('ben', ['work.fill']))
    await ben.next(welcomeWith(['work.dig', 'work.fill']))
    await lead.accepted(revoke('ann', { grantId: id }))
    expect(await codeOf(ben, act('work.dig'))).toBe('capability_violation')
    await ben.accepted(act('work.fill'))
    expect(ben.frames.some(welcomeWith(['work.fill']))).toBe(true)
    await root.until(update('ann', []))
    expect(root.frames.some(update('ben', ['work.fill']))).toBe(true)
  })
})

describe('an answer', () => {
  test('needs no capability; an accepted grant stands, a declined one falls with what rested on it', async () => {
    const { lead, ann, ben } = await open()
    const all = ['work.dig', 'capability.grant']
    const { id } = await lead.accepted(grant('ann', all))
    await ann.accepted(grant('ben', ['work.dig']))
    await ann.accepted(answer(id, 'accepted'))
    await ben.accepted(act('work.dig'))
    await ann.accepted(answer(id, 'declined'))
    expect(await codeOf(ben, act('work.dig'))).toBe('capability_violation')
    expect(await codeOf(ann, answer(id, 'accepted'))).toBe('not_found')
    await lead.next(update('ann', []))
  })
})

describe('the operator', () => {
  test('tells of new capabilities and new limits by one welcome', async () => {
    const { gateway, ann, root } = await open()
    const changed = { ...participants, ann: ['play.x'] }
    await reconfigure(gateway, { participants: changed, limits: { contextDepth: 2 } })
    await root.accepted(chat('mark'))
    await ann.next(({ payload }) => payload.message === 'mark')
    expect(welcomes(ann).map(({ payload }) => payload)).toMatchObject([
      {},
      { you: { capabilities: ['play.x'] }, limits: { contextDepth: 2 } },
    ])
  })

  test('changes something while a grant is on its way: both are carried out', async () => {
    const disk = faultyDisk(memoryStore())
    const { gateway, lead, ann, ben } = await open({ store: disk.store })
    const { appending, goOn } = disk.stall()
    const changed = reconfigure(gateway, { participants: { ...participants, ben: ['play.x'] } })
    await appending
    lead.send(grant('ann', ['work.dig']))
    await lead.subscribe({})
    goOn()
    await changed
    await ann.next(welcomeWith(['work.dig']))
    await ben.next(welcomeWith(['play.x']))
    await ben.next(update('ann', ['work.dig']))
  })
})
