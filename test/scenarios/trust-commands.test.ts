import type { SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test, vi } from 'vitest'
import { spawnMeup } from '../support/cli.js'
import { linesOf, openShop, type Shop, within } from '../support/shop.js'

/** Calls the shop as `helper`, who is not allowed to, so that the call becomes a proposal. Returns its id. */
async function propose({ cwd }: Shop, what: string, ...flags: string[]) {
  const args = [
    'call',
    'shop/buy',
    JSON.stringify({ what }),
    '--as',
    'helper',
    '--why',
    'we are out of it',
    ...flags,
  ]
  const call = spawnMeup(args, cwd)
  const id = await vi.waitFor(() => {
    const [, found] = /^waiting for approval of proposal (\S+)\n/.exec(call.said.stderr) ?? []
    if (found === undefined) throw new Error(`no proposal: ${call.said.stderr}`)
    return found
  }, within)
  return { id, call }
}

/** Makes a proposal with this id. */
const proposeAs = (space: SpaceClient, id: string, what: string, rest: object = {}) =>
  space.send({
    id,
    kind: 'mcp.proposal',
    to: ['shop'],
    payload: { method: 'tools/call', params: { name: 'buy', arguments: { what } }, ...rest },
  })

describe('proposals', { timeout: 60_000 }, () => {
  test('what is approved is done, and both sides get the result', async () => {
    const space = await openShop()
    const { id, call } = await propose(space, 'milk')
    const listed = await space.run('proposals', 'ls')
    expect(listed.stdout).toMatch(
      new RegExp(
        `^${id}  helper asks whether buy of shop may be called with {"what":"milk"}\n  we are out of it · open, expires in (10 min|9 min \\d+ s)\n$`,
      ),
    )
    expect(await space.run('proposals', 'approve', id)).toEqual({ code: 0, stdout: 'one milk\n', stderr: '' })
    expect(await call.ended).toBe(0)
    expect(call.said.stdout).toBe('one milk\n')
    expect(await space.run('proposals', 'ls')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no proposal is open\n',
    })

    const [settled] = linesOf(await space.run('proposals', 'ls', '--all', '--json'))
    expect(settled).toMatchObject({
      ...{ id, from: 'helper', to: ['shop'], tool: 'buy', parameters: { what: 'milk' }, state: 'fulfilled' },
      fulfilments: [{ by: 'ana', outcome: 'success' }],
    })
    const again = await space.run('proposals', 'approve', id)
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no longer open: approved by ana'),
    })
  })

  test('show prints all that is carried out, unmasked, with what nobody would see spelled out', async () => {
    const space = await openShop()
    const helper = await space.enter('helper')
    const what = `milk\u202e${'-'.repeat(20_000)}`
    await proposeAs(helper, 'long', what, { uses: 2 })
    const { code, stdout } = await space.run('proposals', 'show', 'long', '--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { to: ['shop'], method: 'tools/call', uses: 2, params: { name: 'buy', arguments: { what } } },
    ])
    expect((await space.run('proposals', 'show', 'long')).stdout).toContain('"what": "milk\\u202e---')
  })

  test('what is rejected ends with 7, and says who did not want it and why', async () => {
    const space = await openShop()
    const { id, call } = await propose(space, 'beer')
    const why = ['--reason', 'policy', 'not\u001b[2J\u202e\u009b', 'here']
    const rejected = await space.run('proposals', 'reject', id, '--as', 'guard', ...why)
    expect(rejected).toMatchObject({ code: 0, stdout: '' })
    expect(await call.ended).toBe(7)
    expect(call.said).toEqual({
      stdout: '',
      stderr: `waiting for approval of proposal ${id}\nmeup: rejected by guard: policy (not[2J here)\n`,
    })
    const { stdout } = await space.run('proposals', 'ls', '--all')
    expect(stdout).toContain('rejected by guard: policy (not[2J here)')
    expect(linesOf(await space.run('proposals', 'ls', '--json'))).toEqual([])
  })

  test('nobody waits longer than for the timeout, and who is interrupted takes the proposal back', async () => {
    const space = await openShop()
    const late = [
      await propose(space, 'tea', '--timeout', '3'),
      await propose(space, 'tea', '--timeout', '60', '--approval-timeout', '3'),
    ]
    for (const { call } of late) {
      expect(await call.ended).toBe(6)
      expect(call.said.stderr).toContain('the proposal was not approved in time')
    }

    const { id, call } = await propose(space, 'tea')
    call.process.kill('SIGINT')
    expect(await call.ended).toBe(130)
    const [, , last] = linesOf(await space.run('proposals', 'ls', '--all', '--json'))
    expect(last).toMatchObject({
      id,
      state: 'withdrawn',
      withdrawal: { by: 'helper', reason: 'interrupted' },
    })
  })

  test('ids may be cut as far as they stay clear, and begin with a dash', async () => {
    const space = await openShop()
    const helper = await space.enter('helper')
    await proposeAs(helper, 'one-of-two', 'milk')
    await proposeAs(helper, 'one-of-three', 'milk')
    await proposeAs(helper, '-hidden', 'bread')
    const unclear = await space.run('proposals', 'approve', 'one-of-t')
    expect(unclear).toMatchObject({ code: 2, stdout: '' })
    expect(unclear.stderr).toContain('one-of-t may be any proposal of one-of-two, one-of-three')
    const unknown = await space.run('proposals', 'approve', 'two')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('proposal_not_found') })
    expect(await space.run('proposals', 'approve', 'one-of-tw')).toMatchObject({
      code: 0,
      stdout: 'one milk\n',
    })
    expect(await space.run('proposals', 'approve', '-hi')).toMatchObject({ code: 0, stdout: 'one bread\n' })

    const back = await space.run('proposals', 'withdraw', 'one', '--as', 'helper', '--json')
    expect(linesOf(back)).toEqual([
      { id: 'one-of-three', state: 'withdrawn', by: 'helper', reason: 'no longer needed' },
    ])
    const late = await space.run('proposals', 'approve', 'one-of-th')
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('withdrawn: no longer needed') })
  })

  test('who may not do it, or has said no, may not approve it; what a tool says is told', async () => {
    const space = await openShop()
    const helper = await space.enter('helper')
    await proposeAs(helper, 'milk', 'milk', { uses: 2 })
    await proposeAs(helper, 'nothing', 'nothing')
    const denied = await space.run('proposals', 'approve', 'milk', '--as', 'shop')
    expect(denied).toMatchObject({ code: 5, stderr: expect.stringContaining('capability_violation') })
    expect((await space.run('proposals', 'reject', 'milk')).code).toBe(0)
    const changed = await space.run('proposals', 'approve', 'milk')
    expect(changed).toMatchObject({ code: 5, stderr: expect.stringContaining('has rejected milk already') })
    const { stdout } = await space.run('proposals', 'ls')
    expect(stdout).toContain('rejected by ana: disagree · open 2 times')

    const failed = await space.run('proposals', 'approve', 'nothing')
    expect(failed).toEqual({ code: 1, stdout: '', stderr: 'meup: the tool failed: sold out\n' })
    for (const args of [
      ['approve', 'milk', '--timeout', 'x'],
      ['approve', 'milk', '--alwais'],
      ['approve'],
    ]) {
      expect(await space.run('proposals', ...args), args.join(' ')).toMatchObject({ code: 2, stdout: '' })
    }
  })

  test('whoever decides answers nothing that was asked of it before', async () => {
    const space = await openShop()
    const helper = await space.enter('helper')
    await space.run('caps', 'grant', 'helper', '{"kind":"mcp.request","to":"ana"}')
    await proposeAs(helper, 'milk', 'milk')
    const payload = { jsonrpc: '2.0', id: 1, method: 'ask' }
    await helper.send({ kind: 'mcp.request', to: ['ana'], payload })
    const heard: AnyEnvelope[] = []
    helper.on('envelope', (envelope) => heard.push(envelope))
    expect((await space.run('proposals', 'approve', 'milk')).code).toBe(0)
    const hasLeft = (envelope: AnyEnvelope): boolean =>
      envelope.kind === 'system.presence' &&
      envelope.payload.event === 'leave' &&
      envelope.payload.participant.id === 'ana'
    await vi.waitFor(() => expect(heard.some(hasLeft)).toBe(true), within)
    const answers = heard.filter(({ kind }) => kind === 'mcp.response')
    expect(answers.map(({ from }) => from)).toEqual(['shop'])
  })

  test('"always" grants the same for the future, until it is revoked', async () => {
    const space = await openShop()
    const { id, call } = await propose(space, 'milk')
    const approved = await space.run('proposals', 'approve', id, '--always', '--json')
    const { content, grant } = JSON.parse(approved.stdout)
    expect(content).toEqual([{ type: 'text', text: 'one milk' }])
    expect(approved.stderr).toContain(`(grant ${grant.id}); meup caps revoke ${grant.id} takes it back`)
    expect(await call.ended).toBe(0)

    const buy = ['call', 'shop/buy', '{"what":"bread"}', '--as', 'helper']
    expect(await space.run(...buy)).toEqual({ code: 0, stdout: 'one bread\n', stderr: '' })
    const [held] = linesOf(await space.run('caps', 'ls', 'helper', '--json'))
    expect(held).toMatchObject({
      id: 'helper',
      configured: ['chat', 'mcp.proposal', 'mcp.withdraw'],
      grants: [{ id: grant.id, grantor: 'ana', recipient: 'helper' }],
      others: [],
    })
    expect((await space.run('caps', 'revoke', grant.id.slice(0, 8))).code).toBe(0)
    await propose(space, 'bread') // Without the grant, it has to propose again.
  })
})
