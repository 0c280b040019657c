import { spawn } from 'node:child_process'
import { describe, expect, test, vi } from 'vitest'
import { commandLine, meup, readError, temporaryFolder } from '../support/cli.js'
import { linesOf, openShop, within } from '../support/shop.js'
import { some } from '../support/soak.js'

describe('caps', { timeout: 60_000 }, () => {
  test('grant gives what one holds, for as long as is said; revoke takes it back', async () => {
    const { run } = await openShop()
    const toShop = '{"kind":"mcp.request","to":"shop"}'
    const terms = ['--for', '1h', '--reason', 'to\u001b]0;x\u0007 help']
    const granted = await run('caps', 'grant', 'helper', 'chat.acknowledge', toShop, ...terms)
    const id = granted.stdout.trim()
    expect(granted).toMatchObject({ code: 0, stderr: `meup caps revoke ${id} takes it back\n` })
    const { stdout } = await run('caps', 'ls', 'helper')
    const [first, second = ''] = stdout.split('\n')
    expect(first).toBe('helper may send messages; propose calls; send mcp.withdraw (configured)')
    expect(second).toMatch(
      /^helper may send chat\.acknowledge; make requests .* to shop \(granted by ana until 20\S+Z, \S+: to\]0;x help\)$/,
    )
    expect(second).toContain(` ${id}: `)
    expect((await run('caps')).stdout).toContain(stdout)

    const exceeds = await run('caps', 'grant', 'helper', 'mcp.*', '--as', 'guard')
    expect(exceeds).toMatchObject({ code: 5, stderr: expect.stringContaining('grant_exceeds_own') })
    const revoked = await run('caps', 'revoke', 'helper', '*', '--reason', 'enough', '--json')
    expect(linesOf(revoked)).toMatchObject([
      { kind: 'capability.revoke', payload: { recipient: 'helper', capabilities: ['*'], reason: 'enough' } },
    ])
    expect((await run('caps', 'ls', 'helper')).stdout.split('\n')).toHaveLength(2)
    expect(await run('caps', 'revoke', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not_found'),
    })
    expect(await run('caps', 'ls', 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'no one is called nobody. Did you mean one of ana, helper, guard, shop?',
      ),
    })
  })

  test('explain says which capability decides, or which would', async () => {
    const { run, enter } = await openShop()
    const ana = await enter('ana')
    const { id } = await ana.grant('helper', [{ tool: 'shop/buy' }])
    const explain = async (...args: string[]) => (await run('caps', 'explain', ...args)).stdout.split('\n')
    expect(await explain('ana', 'mcp.request', 'shop/buy')).toEqual([
      'ana may call buy of shop: its configuration lets it do everything.',
      '',
    ])
    expect(await explain('helper', 'mcp.request shop/buy')).toEqual([
      `helper may call buy of shop: the grant ${id} of ana lets it call buy of shop.`,
      '',
    ])
    const json =
      '{"kind":"mcp/request","to":"shop","payload":{"method":"tools/call","params":{"name":"steal"}}}'
    await ana.pause(['helper'])
    expect(await explain('helper', json)).toEqual([
      'helper may not call steal of shop.',
      'Its capabilities for mcp.request do not cover that: call buy of shop.',
      'It may propose it for approval.',
      'ana has paused it: until it is resumed, it may only answer.',
      `{"tool":"shop/steal"} would allow it. Add it in space.yaml, or: meup caps grant helper '{"tool":"shop/steal"}'`,
      '',
    ])
    const refused = await run('caps', 'explain', 'guard', 'chat', 'ana', '--json')
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      7,
      {
        participant: 'guard',
        allowed: false,
        sentences: ['guard may not send messages to ana.', 'It has no capability for chat.'],
        missing: { kind: 'chat', to: 'ana' },
      },
    ])
    expect(await run('caps', 'explain', 'gaurd', 'chat')).toMatchObject({
      code: 1,
      stderr: 'meup: no one is called gaurd. Did you mean guard?\n',
    })
  })

  test('what is called wrongly says so', async () => {
    const nowhere = ['--url', 'http://127.0.0.1:9', '--space', 'demo']
    const wrong = [
      [['grant', 'helper', 'chat', '--for', '1h', '--until', '2030-01-01T00:00:00Z'], 'option_conflict'],
      [['grant', 'helper', '{"kind":'], 'invalid_json'],
      [['grant', 'helper'], 'usage'],
      [['log', '--limit', '0'], 'invalid_value'],
    ] as const
    for (const [args, code] of some(wrong, 2))
      expect(readError(await meup(['caps', ...args, ...nowhere, '--json']))).toMatchObject({
        ...{ code, exitCode: 2 },
      })
  })

  test('log tells in order who was refused and who was given what; to each what it may read', async () => {
    const { run, cwd, enter } = await openShop()
    const [ana, helper] = [await enter('ana'), await enter('helper')]
    await expect(helper.grant('shop', ['chat'])).rejects.toThrow()
    await ana.grant('helper', ['reasoning.*'], { reason: 'to\nthink' })
    await ana.pause(['helper', 'guard'], { timeoutSeconds: 90 })
    await expect(helper.send({ kind: 'chat', payload: { message: 'may I?' } })).rejects.toThrow()
    await ana.resume(['helper', 'guard'])
    await ana.kick('guard', { reason: 'done' })

    const { stdout } = await run('caps', 'log')
    expect(stdout.split('\n').map((line) => line.replace(/^20\S+Z {2}/, ''))).toEqual([
      expect.stringMatching(/^helper: capability\.grant denied: .* \(capability_violation\)$/),
      expect.stringMatching(/^ana granted helper reasoning\.\* — to think \(\S+\)$/),
      'ana paused helper, guard for 1 min 30 s',
      expect.stringMatching(/^helper: chat denied: .* \(participant_paused\)$/),
      'ana resumed helper, guard',
      'ana kicked guard — done',
      '',
    ])
    const kinds = async (...args: string[]) =>
      linesOf(await run('caps', 'log', '--json', ...args)).map(({ kind }) => kind)
    expect(await kinds('--limit', '2')).toEqual(['participant.resume', 'space.kick'])
    expect(await kinds('--participant', 'guard', '--since', '1h')).toEqual([
      'participant.pause',
      'participant.resume',
      'space.kick',
    ])
    expect(await kinds('--until', '1h')).toEqual([])
    expect(await kinds('--as', 'shop')).toEqual(['capability.grant', 'space.kick'])

    const piped = spawn('bash', ['-c', `${commandLine('caps log')} | true; exit \${PIPESTATUS[0]}`], { cwd })
    let stderr = ''
    piped.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk
    })
    const code = await new Promise((resolve) => piped.on('close', resolve))
    expect([code, stderr]).toEqual([141, ''])
  })
})

test('whoever is paused does nothing until it is resumed', async () => {
  const { run, enter } = await openShop()
  const helper = await enter('helper')
  const paused = await run('pause', 'helper', '--for', '1h', '--reason', 'wait')
  expect(paused).toEqual({ code: 0, stdout: '', stderr: 'paused; meup resume helper ends that\n' })
  await vi.waitFor(() => expect(helper.paused).toMatchObject({ by: 'ana', reason: 'wait' }), within)
  const [resumed] = linesOf(await run('resume', 'helper', '--json'))
  expect(resumed).toMatchObject({ kind: 'participant.resume', to: ['helper'] })
  await vi.waitFor(() => expect(helper.paused).toBeUndefined(), within)
  expect((await run('pause', 'helper', '--as', 'guard')).code).toBe(5)
})

test('whoever is invited enters with the token that is shown, until it is kicked', async () => {
  const { run, cwd, running } = await openShop()
  const invited = await run('invite', 'visitor', 'chat', '--for', '1h')
  expect(invited.code).toBe(0)
  const [token = '', ...rest] = invited.stdout.split('\n')
  expect([token, rest]).toEqual([expect.stringMatching(/^[\w-]{43}$/), ['']])
  expect(invited.stderr).toContain(
    `visitor enters with MEUP_TOKEN=<token> meup join --url ${running.url} --space demo`,
  )
  const asVisitor = { cwd, env: { MEUP_TOKEN: token } }
  const said = await meup(['send', 'hello', '--url', running.url, '--space', 'demo', '--json'], asVisitor)
  expect(linesOf(said)).toMatchObject([{ from: 'visitor', payload: { message: 'hello' } }])
  expect((await run('caps', 'ls', 'visitor')).stdout).toMatch(
    /^visitor may send messages \(granted by ana until 20\S+, \S+\)\n$/,
  )

  const kicked = await run('kick', 'visitor')
  expect(kicked).toEqual({ code: 0, stdout: '', stderr: 'visitor is kept out until it is invited again\n' })
  const late = await meup(['send', 'again', '--url', running.url, '--space', 'demo'], asVisitor)
  expect(late).toMatchObject({ code: 5, stderr: expect.stringContaining('ana has kicked you out') })
  const back = await run('invite', 'visitor', 'chat', '--json')
  expect(linesOf(back)).toMatchObject([{ participantId: 'visitor', status: 'created' }])
})

test('what only looks fails as entering does: without a gateway, a token, a space', async () => {
  const { run } = await openShop()
  const wrong = temporaryFolder({ token: 'nobody-has-this-token' })
  const looking = [
    ['caps', 'log'],
    ['caps', 'ls'],
    ['proposals', 'ls'],
  ]
  for (const args of some(looking, 1)) {
    const outcomes = await Promise.all([
      run(...args, '--url', 'http://127.0.0.1:9'),
      run(...args, '--token-file', `${wrong}/token`),
      run(...args, '--space', 'other', '--as', 'ana'),
    ])
    expect(outcomes, args.join(' ')).toMatchObject([
      { code: 3, stderr: expect.stringContaining('no gateway answers') },
      { code: 4, stderr: expect.stringContaining('unauthorized') },
      { code: 1, stdout: '', stderr: expect.stringContaining('There is no space other') },
    ])
  }
})
