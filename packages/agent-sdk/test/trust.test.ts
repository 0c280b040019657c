import type { OpenProposal, SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { Capability } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants: Record<string, Capability[]> = {
  ana: ['*'],
  bot: ['chat', 'mcp.proposal', 'test.*', 'capability.grant'],
  tools: ['*'],
}

async function cast() {
  const space = await createTestSpace({ participants })
  const [ana, bot, tools] = await Promise.all([space.join('ana'), space.join('bot'), space.join('tools')])
  tools.serve(async ({ payload }) => ({ result: { asked: payload.params ?? {} } }))
  return { space, ana, bot, tools, [Symbol.asyncDispose]: () => space.close() }
}

const catchFailure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error: Error) => error,
  )

/** Resolves with a participant's capabilities after their next change. */
const changed = (seat: SpaceClient): Promise<readonly Capability[]> =>
  new Promise((resolve) => seat.once('capabilities', resolve))

const next = (seat: SpaceClient): Promise<OpenProposal> =>
  new Promise((resolve) => seat.proposals.once('proposal', resolve))

describe('a grant', () => {
  const toTools = { kind: 'mcp.request', to: 'tools' }

  test('gives what its grantor holds, until it is revoked', async () => {
    await using here = await cast()
    const more = changed(here.bot)
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const grant = await here.ana.grant('bot', [toTools], { expiresAt, reason: 'trusted' })
    expect(grant).toEqual({ id: expect.any(String), recipient: 'bot', capabilities: [toTools], expiresAt })
    expect(await more).toEqual([...(participants.bot ?? []), toTools])
    expect(await here.bot.request('tools', 'look', { n: 1 }, { propose: false })).toEqual({ asked: { n: 1 } })
    const less = changed(here.bot)
    await here.ana.revoke(grant, 'no longer')
    expect(await less).toEqual(participants.bot)
    expect(await catchFailure(here.bot.request('tools', 'look', {}, { propose: false }))).toMatchObject({
      code: 'capability_violation',
    })
  })

  test('is revoked by what it gave, too', async () => {
    await using here = await cast()
    const more = changed(here.bot)
    await here.ana.grant('bot', [toTools])
    await more
    const less = changed(here.bot)
    await here.ana.revoke({ recipient: 'bot', capabilities: [{ kind: 'mcp.request' }] })
    expect(await less).toEqual(participants.bot)
  })

  test('of more than its grantor holds is refused', async () => {
    await using here = await cast()
    expect(await catchFailure(here.bot.grant('tools', ['space.kick']))).toMatchObject({
      code: 'grant_exceeds_own',
    })
  })
})

describe('allowing always', () => {
  test('with some arguments alone lets the proposer use those', async () => {
    await using here = await cast()
    const coming = next(here.ana)
    const call = here.bot.request('tools', 'tools/call', { name: 'write', arguments: { path: 'a/b' } })
    const { id } = await coming
    const more = changed(here.bot)
    await here.ana.proposals.allowAlways(id, { arguments: { path: 'a/*' } })
    await Promise.all([call, more])
    const may = (path: string): boolean =>
      here.bot.can({
        ...{ kind: 'mcp.request', to: ['tools'] },
        payload: { method: 'tools/call', params: { name: 'write', arguments: { path } } },
      })
    expect([may('a/c'), may('b/c'), may('a/c/d')]).toEqual([true, false, false])
  })

  test('approves, and lets the proposer do the same alone: this tool, whatever the arguments', async () => {
    await using here = await cast()
    const coming = next(here.ana)
    const call = here.bot.request('tools', 'tools/call', { name: 'w*', arguments: { n: 1 } })
    const { id } = await coming
    const more = changed(here.bot)
    const grant = await here.ana.proposals.allowAlways(id, { reason: 'harmless' })
    expect(await call).toEqual({ asked: { name: 'w*', arguments: { n: 1 } } })
    expect(grant.capabilities).toEqual([
      { kind: 'mcp.request', to: 'tools', payload: { method: 'tools/call', params: { name: 'w\\*' } } },
    ])
    await more
    const request = (to: string[], method: string, params: object) => ({
      kind: 'mcp.request',
      to,
      payload: { method, params },
    })
    expect(here.bot.can(request(['tools'], 'tools/call', { name: 'w*', arguments: { n: 2 } }))).toBe(true)
    expect(here.bot.can(request(['tools'], 'tools/call', { name: 'wipe' }))).toBe(false)
    expect(here.bot.can(request(['tools'], 'prompts/get', { name: 'w*' }))).toBe(false)
    expect(here.bot.can(request(['ana'], 'tools/call', { name: 'w*' }))).toBe(false)
    expect(here.bot.can(request([], 'tools/call', { name: 'w*' }))).toBe(false)
    const heard = recordEnvelopes(here.ana)
    await here.bot.request('tools', 'tools/call', { name: 'w*', arguments: { n: 3 } })
    await caughtUp(here.bot, heard)
    expect(heard.all.filter(byKind('mcp.proposal'))).toEqual([])
    const less = changed(here.bot)
    await here.ana.revoke(grant)
    expect(await less).toEqual(participants.bot)
  })

  test.each([
    ['resources/read', { uri: 'file:///a/*' }, { params: { uri: 'file:///a/\\*' } }],
    ['tools/call', { name: '/^x$/' }, { params: { name: '\\/^x$/' } }],
    ['tools/call', { name: '!x' }, { params: { name: '\\!x' } }],
    ['tools/call', { name: 're:.*\\?' }, { params: { name: '\\re:.\\*\\\\\\?' } }],
    ['tools/list', {}, {}],
  ])('%s %j is told from all others', async (method, params, narrowed) => {
    await using here = await cast()
    const coming = next(here.ana)
    await here.bot.propose({ to: 'tools', method, params })
    const { id } = await coming
    const more = changed(here.bot)
    const grant = await here.ana.proposals.allowAlways(id)
    expect(grant.capabilities).toEqual([
      { kind: 'mcp.request', to: 'tools', payload: { method, ...narrowed } },
    ])
    await more
    expect(here.bot.can({ kind: 'mcp.request', to: ['tools'], payload: { method, params } })).toBe(true)
  })

  const unnamed: [string, object][] = [
    ['tools/call', {}],
    ['tools/call', { name: ['list'] }],
    ['tools/call', { name: '' }],
    ['tools/call', { name: null, uri: 'file:///a' }],
    ['tools/call', { uri: 'file:///a' }],
    ['tools/call', { name: { toString: 'list' } }],
    ['prompts/get', { name: 7 }],
    ['prompts/get', { uri: 'a' }],
    ['resources/read', {}],
    ['resources/read', { name: 'list' }],
    ['resources/subscribe', { uri: ['file:///a'] }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: 'b' } }],
    ['sampling/createMessage', { name: 'x' }],
    ['Tools/Call', { name: 'x' }],
    ['constructor', { name: 'x' }],
  ]

  test.each(unnamed)(
    'is refused for %s %j, which names no tool, and offered nowhere',
    async (method, params) => {
      await using here = await cast()
      const coming = next(here.ana)
      await here.bot.propose({ to: 'tools', method, params })
      const { id } = await coming
      const heard = recordEnvelopes(here.ana)
      expect(here.ana.proposals.mayApprove(id)).toBe(true)
      expect(here.ana.proposals.mayAllowAlways(id)).toBe(false)
      expect(
        await catchFailure(here.ana.proposals.allowAlways(id, { arguments: { a: 'b' } })),
      ).toBeInstanceOf(TypeError)
      await caughtUp(here.ana, heard)
      expect(heard.all.filter(({ kind }) => kind === 'mcp.request' || kind === 'capability.grant')).toEqual(
        [],
      )
    },
  )

  test('needs a target, lest it be for all', async () => {
    await using here = await cast()
    const coming = next(here.ana)
    await here.bot.send({ kind: 'mcp.proposal', payload: { method: 'ping' } })
    const { id } = await coming
    const heard = recordEnvelopes(here.ana)
    expect(await catchFailure(here.ana.proposals.allowAlways(id))).toBeInstanceOf(TypeError)
    await caughtUp(here.ana, heard)
    expect(heard.all.filter(({ kind }) => kind === 'mcp.request' || kind === 'capability.grant')).toEqual([])
  })
})

describe('an invitation', () => {
  test('makes a participant that enters with the token', async () => {
    await using here = await cast()
    const heard = recordEnvelopes(here.ana)
    const { token, ...rest } = await here.ana.invite('eve', ['chat'], { reason: 'to help' })
    expect(rest).toEqual({ participantId: 'eve', status: 'created', url: '/spaces/test/ws' })
    if (token === undefined) throw new Error('eve needs a token')
    const eve = await here.space.join('eve', { token })
    const { id } = await eve.chat('thank you')
    await heard.until(byId(id))
    expect(heard.all.filter(byKind('space.invite'))).toHaveLength(1)
    expect(JSON.stringify(heard.all)).not.toContain(token)
  })

  test('is refused as a grant is', async () => {
    await using here = await cast()
    expect(await catchFailure(here.bot.invite('eve', ['chat']))).toMatchObject({
      code: 'capability_violation',
    })
    expect(await catchFailure(here.ana.invite('bot', ['chat']))).toMatchObject({ code: 'forbidden' })
  })
})

describe('a kick', () => {
  test('closes a participant out, until it is invited again', async () => {
    await using here = await cast()
    await here.ana.kick('bot', { reason: 'too loud' })
    expect(await here.bot.closed()).toMatchObject({ name: 'ProtocolError', code: 'forbidden' })
    expect(await catchFailure(here.space.join('bot'))).toMatchObject({ code: 'forbidden' })
    const { token, status } = await here.ana.invite('bot', ['chat'])
    expect([token, status]).toEqual([undefined, 'readmitted'])
    await (await here.space.join('bot')).chat('back again')
  })
})
