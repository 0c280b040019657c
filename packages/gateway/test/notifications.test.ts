import { describe, expect, test } from 'vitest'
import type { Sent } from './client.js'
import { start } from './support.js'

describe('a notification about a call', () => {
  const call = { id: 'call', kind: 'mcp.request', to: ['tool'], payload: { id: 1, method: 'tools/call' } }
  const notice = (fields: Partial<Sent> = {}, method = 'notifications/progress'): Sent => ({
    kind: 'mcp.request',
    correlationId: 'call',
    to: ['alice'],
    payload: { jsonrpc: '2.0', method },
    ...fields,
  })

  async function called() {
    const { connect } = await start({ participants: { alice: ['*'], tool: [], second: [], mallory: ['*'] } })
    const [alice, tool, mallory] = [await connect('alice'), await connect('tool'), await connect('mallory')]
    await alice.accepted(call)
    return { alice, tool, mallory, connect }
  }

  test('comes without a capability from whom it was asked of, until that has answered', async () => {
    const { tool } = await called()
    for (const method of ['notifications/progress', 'notifications/message', 'notifications/progress']) {
      await tool.accepted(notice({}, method))
    }
    await tool.accepted({ kind: 'mcp.response', correlationId: 'call', payload: { result: {} } })
    expect(await tool.refused(notice())).toMatchObject({ code: 'capability_violation' })
  })

  test('goes to the caller alone', async () => {
    const { tool } = await called()
    for (const to of [undefined, ['second'], ['alice', 'second']]) {
      expect(await tool.refused(notice({ to }))).toMatchObject({
        code: 'forbidden',
        details: { path: '/to' },
      })
    }
  })

  test('lets nothing else through: no request, and nothing of other calls', async () => {
    const { tool, alice } = await called()
    await alice.accepted({ ...call, id: 'other', to: ['second'] })
    for (const fields of [
      { payload: { method: 'notifications/progress', id: 1 } },
      { payload: { method: 'tools/call' } },
      { correlationId: undefined },
      { correlationId: 'never' },
      { correlationId: ['call', 'other'] },
    ]) {
      expect(await tool.refused(notice(fields))).toMatchObject({ code: 'capability_violation' })
    }
  })

  test('is forged where somebody else sends it, and fine from the caller', async () => {
    const { alice, mallory, tool } = await called()
    expect(await mallory.refused(notice())).toMatchObject({ code: 'forbidden' })
    await alice.accepted(notice({ to: ['tool'] }, 'notifications/cancelled'))
    await tool.accepted({ kind: 'mcp.response', correlationId: 'call', payload: { result: {} } })
    expect(await mallory.refused(notice())).toMatchObject({ code: 'forbidden' })
  })
})
