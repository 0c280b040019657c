import { sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { type Capability, givenText } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { range } from './client.js'
import { start, temporaryFile } from './support.js'
import { codeOf, grant, invite, kick } from './trust.js'

const hosts = range(1, 5).map((n) => `host${n}`)
const participants = {
  root: ['*'],
  ann: [],
  ...Object.fromEntries(hosts.map((id) => [id, ['space.invite', 'capability.grant', 'x.*']])),
}

/** Capabilities whose JSON has exactly this number of characters. */
function listOf(length: number): Capability[] {
  const fixed = JSON.stringify([{ kind: 'x.y', context: '' }]).length - 1
  const maximum = 500 + fixed
  const count = Math.ceil((length - 1) / maximum)
  const sizes = range(1, count).map(
    (n) => Math.floor(((length - 1) * n) / count) - Math.floor(((length - 1) * (n - 1)) / count),
  )
  const list = sizes.map((size) => ({ kind: 'x.y', context: 'x'.repeat(size - fixed) }))
  expect(JSON.stringify(list)).toHaveLength(length)
  return list
}

const full = listOf(givenText.list)
/** Number of capability lists of the maximum length that one participant may grant to others. */
const lists = givenText.own / givenText.list

test('a list and what one participant was granted have 8192 characters at most', async () => {
  const { connect } = await start({ participants })
  const root = await connect('root')
  expect(await codeOf(root, grant('ann', listOf(givenText.list + 1)))).toBe('invalid_payload')
  await root.accepted(grant('ann', listOf(givenText.list - 100)))
  expect(await codeOf(root, grant('ann', listOf(200)))).toBe('forbidden')
  expect(await codeOf(root, invite('new', listOf(givenText.list + 1)))).toBe('invalid_payload')
  await root.accepted(invite('new', full))
})

test('what one has given is bounded; what falls makes room', async () => {
  const clock = new FakeClock()
  const { connect } = await start({ participants, clock })
  const root = await connect('root')
  const expiresAt = new Date(clock.now() + 60_000).toISOString()
  await root.accepted(invite('p0', full, { expiresAt }))
  for (const n of range(1, lists - 1)) await root.accepted(invite(`p${n}`, full))
  expect(await root.refused(invite('more', ['chat']))).toMatchObject({
    code: 'forbidden',
    message: fillIn(texts.ownGivenText, { from: 'root', characters: givenText.own }),
  })
  expect(await codeOf(root, grant('ann', ['chat']))).toBe('forbidden')
  // Root's grants and invitations have reached its limit of characters. Repeating an invitation replaces it, so it adds none.
  await root.accepted(invite('p1', full))
  const host = await connect('host1')
  await host.accepted(invite('of-host', ['x.y']))
  clock.advance(60_000)
  await root.accepted(invite('more', full))
  expect(await codeOf(root, invite('still-more', ['chat']))).toBe('forbidden')
})

test('what is given in a space is bounded, after a restart as well, so that a welcome goes into the send buffer', async () => {
  const path = temporaryFile('log.db')
  const open = async () => start({ participants, store: await sqliteStore({ path }) })
  const before = await open()
  for (const host of hosts.slice(0, 4)) {
    const connected = await before.connect(host)
    for (const n of range(1, lists)) await connected.accepted(invite(`${host}-${n}`, full))
  }
  await before.close()
  const { connect } = await open()
  const last = await connect('host5')
  expect(await last.refused(invite('more', ['x.y']))).toMatchObject({
    message: fillIn(texts.givenText, { characters: givenText.all }),
  })
  expect(JSON.stringify(last.welcome).length).toBeLessThan(2 * givenText.all)
  const root = await connect('root')
  await root.accepted(kick('host1-1'))
  await root.accepted({ kind: 'capability.revoke', payload: { recipient: 'host1-1', capabilities: ['*'] } })
  await last.accepted(invite('more', ['x.y']))
})
