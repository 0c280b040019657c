import { sqliteStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import type { Client, Sent } from './client.js'
import { start, temporaryFile } from './support.js'

const participants = {
  ana: ['*'],
  bot: ['chat', { tool: 'tool/read_*' }],
  tool: ['*'],
}
const call = (name: string, fields: Partial<Sent> = {}): Sent => ({
  ...{ kind: 'mcp.request', to: ['tool'] },
  payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } },
  ...fields,
})
const grant = (id: string, name: string): Sent => ({
  ...{ id, kind: 'capability.grant' },
  payload: { recipient: 'bot', capabilities: ['participant.status', { tool: `tool/${name}` }] },
})

/** The right of a call (`allowedBy`), as the client receives it with the logged call. */
const rightOf = async (client: Client, sent: Sent): Promise<unknown> =>
  (await client.accepted(sent)).allowedBy

describe('an accepted call says which right let it pass', () => {
  test('configured, or the earliest grant that stands', async () => {
    const { connect } = await start({ participants })
    const [ana, bot] = [await connect('ana'), await connect('bot')]
    expect(await rightOf(bot, call('read_file'))).toBe('configured')
    await ana.accepted(grant('g1', 'write_*'))
    await ana.accepted(grant('g2', 'write_file'))
    await ana.accepted(grant('g3', 'delete_file'))
    expect(await rightOf(bot, call('write_file'))).toBe('g1')
    expect(await rightOf(bot, call('delete_file'))).toBe('g3')
    expect(await rightOf(bot, call('read_file'))).toBe('configured')
    await ana.accepted({ kind: 'capability.revoke', payload: { recipient: 'bot', grantId: 'g1' } })
    expect(await rightOf(bot, call('write_file'))).toBe('g2')
  })

  test('also after a restart', async () => {
    const path = temporaryFile('log.db')
    const first = await start({ participants, store: await sqliteStore({ path }) })
    await (await first.connect('ana')).accepted(grant('g1', 'write_*'))
    await first.close()
    const { connect } = await start({ participants, store: await sqliteStore({ path }) })
    expect(await rightOf(await connect('bot'), call('write_file'))).toBe('g1')
  })

  test('whoever approves, by its own right', async () => {
    const { connect } = await start({ participants: { ...participants, bot: ['mcp.proposal'] } })
    const [ana, bot] = [await connect('ana'), await connect('bot')]
    await bot.accepted(call('drop', { id: 'plan', orPropose: true }))
    expect(await rightOf(ana, { kind: 'mcp.request', correlationId: 'plan' })).toBe('configured')
  })

  test('notifications and other kinds do not', async () => {
    const { connect } = await start({ participants })
    const ana = await connect('ana')
    const payload = { jsonrpc: '2.0', method: 'notifications/progress' }
    expect(await ana.accepted(call('x', { payload }))).not.toHaveProperty('allowedBy')
    const chat = { kind: 'chat', payload: { message: 'hello' } }
    expect(await ana.accepted(chat)).not.toHaveProperty('allowedBy')
  })

  test('no sender sets it', async () => {
    const { connect } = await start({ participants })
    const bot = await connect('bot')
    expect(await bot.refused(call('read_file', { allowedBy: 'configured' }))).toMatchObject({
      code: 'invalid_envelope',
      details: { path: '/allowedBy' },
    })
  })

  test('a retry repeats what was sent alone', async () => {
    const { connect } = await start({ participants })
    const bot = await connect('bot')
    const sent = call('read_file', { id: 'c1' })
    expect(await bot.accepted(sent)).toEqual(await bot.accepted(sent))
  })
})
