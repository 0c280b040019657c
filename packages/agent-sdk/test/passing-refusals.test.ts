import { ProtocolError } from '@meup/agent-sdk'
import { SpaceClient } from '@meup/agent-sdk/internal'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { accepted, fromGateway, scriptedDial } from './support/scripted-line.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

async function asking() {
  const { dial, next } = scriptedDial()
  const opening = SpaceClient.open(dial, { url: 'http://gateway', space: 'test', token: 'x' })
  const line = await next()
  line.welcome()
  const client = await opening
  const sent = (kind: string) => line.sent.filter((each) => each.kind === kind)
  const refuse = (id: string, code: string): void =>
    line.deliver(fromGateway('system.error', { code, message: 'not now' }, { correlationId: id, to: ['me'] }))
  const settle = async (): Promise<void> => {
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { client, line, sent, refuse, settle }
}

describe('a question that the gateway cannot take at present', () => {
  test('is sent again, as it was, and answered', async () => {
    const { client, line, sent, refuse, settle } = await asking()
    const answer = client.ask('why?', { to: ['bot'] })
    await settle()
    const [first] = sent('chat')
    for (const code of ['unavailable', 'internal']) {
      refuse(first?.id ?? '', code)
      await settle()
      await vi.advanceTimersByTimeAsync(500)
      await settle()
    }
    expect(sent('chat')).toEqual([first, first, first])
    line.accept(first as never, 1)
    line.deliver(
      accepted('bot', { id: 'a', kind: 'chat', correlationId: first?.id, payload: { message: 'so' } }, 2),
    )
    expect((await answer).text).toBe('so')
    client.close()
  })

  test('is given up after ten seconds, with the refusal', async () => {
    const { client, sent, refuse, settle } = await asking()
    const answer = client.ask('why?', { to: ['bot'] })
    answer.catch(() => {}) // Awaited below.
    await settle()
    for (let tries = 1; tries <= 21; tries++) {
      expect(sent('chat')).toHaveLength(tries)
      refuse(sent('chat')[0]?.id ?? '', 'unavailable')
      await settle()
      await vi.advanceTimersByTimeAsync(500)
      await settle()
    }
    await expect(answer).rejects.toThrow(ProtocolError)
    client.close()
  })

  test('is not sent again when no one waits for it any more', async () => {
    const { client, sent, refuse, settle } = await asking()
    const answer = client.ask('why?', { to: ['bot'], timeoutMs: 300 })
    answer.catch(() => {}) // Awaited below.
    await settle()
    refuse(sent('chat')[0]?.id ?? '', 'unavailable')
    await settle()
    await vi.advanceTimersByTimeAsync(2000)
    await settle()
    await expect(answer).rejects.toMatchObject({ code: 'timeout' })
    expect(sent('chat')).toHaveLength(1)
    client.close()
  })
})
