import { createGateway, memoryStore, serve, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { errorFor, freshId, ofKind } from './client.js'
import { call, guarded, key, operatorLog, participants, thought } from './guarded.js'
import { start } from './support.js'

describe('the rules', () => {
  test('are replaced while connections stay, and kept where the new ones cannot be used', async () => {
    const { running, ana } = await guarded()
    const config = (rules: object[]) =>
      ({
        ...testSpaceConfig({ participants }),
        safety: { onLeak: 'mask', maxLength: 20, policy: [], rules },
      }) as never
    const rule = (pattern: string) => ({ name: 'other', pattern, action: 'mask' })
    await running.gateway.reconfigure([config([rule('OTHER-[0-9]{4}')])])
    const text = `OTHER-1234`
    expect((await ana.accepted(thought(`${text}.`))).payload).toEqual({ message: '[redacted:other].' })
    expect((await ana.accepted(thought(key))).payload).toEqual({ message: key })
    const long = await ana.accepted(thought('word '.repeat(10)))
    expect(long.payload.message).toBe('word word word word…')

    await expect(running.gateway.reconfigure([config([rule('OTHER-(')])])).rejects.toThrow(
      /safety settings of the space test cannot be used: \/rules\/0\/pattern is /,
    )
    expect((await ana.accepted(thought(text))).payload).toEqual({ message: '[redacted:other]' })
  })

  test('that cannot be used keep a gateway from starting', async () => {
    const options = {
      participants,
      safety: { rules: [{ name: 'x', pattern: '(', action: 'mask' }] },
    } as const
    await expect(start(options)).rejects.toThrow(/the space test cannot be used: \/rules\/0\/pattern/)
  })

  test('are counted by what they do', async () => {
    const { running, ana } = await guarded()
    await ana.accepted(thought(key))
    await ana.accepted(thought('launch code'))
    const metrics = await (await fetch(`${running.url}/metrics`)).text()
    expect(metrics).toContain('meup_safety_findings_total{space="test",action="mask"} 1')
    expect(metrics).toContain('meup_safety_findings_total{space="test",action="block"} 1')
  })
})

describe('tokens of this gateway', () => {
  test('are never shown, of whatever space they are', async () => {
    const { ana } = await guarded({ others: [{ name: 'other', participants: { somebody: [] } }] })
    const { payload } = await ana.accepted(thought(`with ${testToken('somebody')}.`))
    expect(payload).toEqual({ message: 'with [redacted:known-secret].' })
  })

  test('those of invitations neither', async () => {
    const { ana } = await guarded()
    await ana.accepted({ kind: 'space.invite', payload: { participantId: 'dora', capabilities: ['chat'] } })
    const { token } = (await ana.next(ofKind('space.invite-ack'))).payload as { token: string }
    expect((await ana.accepted(thought(token))).payload).toEqual({ message: '[redacted:known-secret]' })
  })
})

verifies(
  'I12',
  'a guard that fails withholds the text, and the turn still completes with its answer',
  async () => {
    const log = operatorLog()
    const config = testSpaceConfig({ participants })
    const tokens = Object.fromEntries(Object.keys(participants).map((id) => [id, testToken(id)]))
    const authenticator = tokenAuthenticator({ test: tokens })
    const failing = {
      ...authenticator,
      isToken(candidate: string): boolean {
        throw new Error(`cannot look up ${candidate}`)
      },
    }
    const gateway = await createGateway({
      spaces: [config],
      store: memoryStore(),
      authenticator: failing,
      logger: log.logger,
    })
    const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
    onTestFinished(() => served.close())
    const post = async (participant: string, envelope: object) => {
      const response = await fetch(`${served.url}/spaces/test/envelopes`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testToken(participant)}` },
        body: JSON.stringify(envelope),
      })
      expect(response.status).toBe(201)
    }
    const long = 'a-word-of-many-letters'
    await post('ben', { id: 'q', kind: 'chat', payload: { message: 'well?' } })
    await post('ana', { id: 'run', kind: 'reasoning.start', correlationId: 'q', payload: { message: long } })
    await post('ana', { id: 'asked', context: 'run', ...call(long) })
    await post('tools', {
      kind: 'mcp.response',
      correlationId: 'asked',
      context: 'run',
      payload: { result: {} },
    })
    await post('ana', { kind: 'reasoning.conclusion', context: 'run', payload: { message: 'short' } })
    await post('ana', { id: 'a', kind: 'chat', correlationId: 'q', payload: { message: 'yes' } })

    const history = await fetch(`${served.url}/spaces/test/envelopes?limit=100`, {
      headers: { authorization: `Bearer ${testToken('ben')}` },
    })
    const { envelopes } = (await history.json()) as { envelopes: Envelope[] }
    const find = (id: string) => envelopes.find((each) => each.id === id)
    expect(find('run')?.payload).toEqual({ message: '', metadata: { withheld: true } })
    expect(find('asked')).not.toHaveProperty('rationale')
    expect(find('a')?.payload).toEqual({ message: 'yes' })
    const received = JSON.stringify(log.lines)
    expect(received).toContain('the guard failed')
    expect(received).not.toContain(long)
  },
)

test('a refusal says nothing of what was guarded, since nothing was', async () => {
  const { ana } = await guarded()
  const id = freshId()
  ana.send({ id, kind: 'reasoning.thought', payload: { message: key } })
  expect((await ana.next(errorFor(id))).payload).toMatchObject({ code: 'invalid_context' })
})
