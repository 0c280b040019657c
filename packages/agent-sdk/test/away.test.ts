import { ToolError } from '@meup/agent-sdk'
import { SpaceClient } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Kind } from '@meup/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { deferred } from './support/deferred.js'
import { accepted, makeWelcome, scriptedDial } from './support/scripted-line.js'

const participants = { ana: ['*'], bob: ['*'], bot: ['*'], weak: ['mcp.proposal', 'chat'] }
const away = {
  name: 'ConnectionError',
  code: 'participant_away',
  retryable: true,
  details: { participant: 'bot' },
}

afterEach(() => void vi.useRealTimers())

const left = (client: SpaceClient, id: string): Promise<void> =>
  new Promise((resolve) =>
    client.on('envelope', ({ kind, payload }) => {
      const { event, participant } = Object(payload)
      if (kind === Kind.systemPresence && event === 'leave' && participant.id === id) resolve()
    }),
  )

test('a call, a request, an approval and a question for its status fail at once where their participant is away', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, weak] = [await space.join('ana'), await space.join('weak')]
  await expect(ana.call('bot/greet')).rejects.toMatchObject(away)
  await expect(ana.request('bot', 'tools/list')).rejects.toMatchObject(away)
  await expect(ana.requestStatus('bot')).rejects.toMatchObject(away)
  const proposed = new Promise<string>((resolve) => ana.proposals.on('proposal', ({ id }) => resolve(id)))
  const proposal = await weak.propose({ to: 'bot', method: 'tools/call', params: { name: 'greet' } })
  await proposed
  await expect(ana.proposals.approve(proposal.id)).rejects.toMatchObject(away)
  await expect(ana.proposals.allowAlways(proposal.id)).rejects.toMatchObject(away)
  expect(ana.proposals.get(proposal.id)).toBeDefined()
})

test('what was refused is not in the log: it is carried out by nobody later', async () => {
  await using space = await createTestSpace({ participants })
  const ana = await space.join('ana')
  await expect(ana.call('bot/greet')).rejects.toMatchObject(away)
  const bot = await space.join('bot', { after: 0 })
  const greet = vi.fn(() => 'hello')
  bot.tool('greet', {}, greet)
  expect((await ana.call('bot/greet')).text).toBe('hello')
  expect(greet).toHaveBeenCalledTimes(1)
})

test('whom the space does not know the gateway refuses', async () => {
  await using space = await createTestSpace({ participants })
  const ana = await space.join('ana')
  await expect(ana.call('nobody/greet')).rejects.toMatchObject({ code: 'participant_not_found' })
})

test('a call that may only be proposed waits for its approval, also where its participant is away', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, weak] = [await space.join('ana'), await space.join('weak')]
  const call = weak.call('bot/greet')
  const proposed = await new Promise<string>((resolve) =>
    ana.proposals.on('proposal', ({ id }) => resolve(id)),
  )
  const bot = await space.join('bot')
  bot.tool('greet', {}, () => 'hello')
  await ana.whenPresent(['bot'])
  await ana.proposals.approve(proposed)
  expect((await call).text).toBe('hello')
})

test('a call that its participant leaves unanswered fails soon, and is cancelled', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  const begun = deferred()
  bot.tool('wait', {}, () => {
    begun.resolve()
    return new Promise(() => {})
  })
  const call = ana.call('bot/wait')
  call.catch(() => {})
  await begun.promise
  const gone = left(ana, 'bot')
  bot.close()
  await gone
  await expect(call).rejects.toMatchObject(away)
  await ana.chat('the cancellation is in the log')
  const again = await space.join('bot', { after: 0 })
  const carriedOut = vi.fn(() => 'again')
  again.tool('wait', {}, carriedOut).tool('now', {}, () => 'now')
  await ana.whenPresent(['bot'])
  expect((await ana.call('bot/now')).text).toBe('now')
  expect(carriedOut).not.toHaveBeenCalled()
})

test('a model’s tools leave out who is away', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  bot.tool('greet', {}, () => 'hello')
  await ana.whenPresent(['bot'])
  const tools = await ana.tools(['bot/*'])
  expect(tools.map(({ name }) => name)).toEqual(['greet'])
  const gone = left(ana, 'bot')
  bot.close()
  await gone
  expect(await ana.tools(['bot/*'])).toEqual([])
  await expect(tools[0]?.call({})).rejects.toMatchObject(away)
})

const gateway = 'system:gateway'

/** A client whose presence events and clock are controlled by the test. */
async function scripted(program?: object, status: 'present' | 'away' = 'away') {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const line = scriptedDial()
  const bot = { id: 'bot', kind: 'agent', capabilities: [], status, ...(program && { program }) }
  const you = { id: 'me', capabilities: ['*'] }
  const welcome = { you, participants: [...makeWelcome('me').participants, bot] } as object
  const [seat, first] = await Promise.all([
    SpaceClient.open(line.dial, { url: 'memory:', space: 'test' }),
    line.next().then((opened) => {
      opened.welcome(welcome)
      return opened
    }),
  ])
  await vi.advanceTimersByTimeAsync(1)
  let seq = 0
  const presence = (event: string, more: object = {}): void =>
    first.deliver(
      accepted(
        gateway,
        { id: `p${seq}`, kind: Kind.systemPresence, payload: { event, participant: { id: 'bot' }, ...more } },
        ++seq,
      ),
    )
  const next = async () => {
    await vi.advanceTimersByTimeAsync(1)
    return line.next()
  }
  const requests = () => first.sent.filter(({ kind }) => kind === Kind.mcpRequest)
  return { seat, first, next, welcome, presence, requests }
}

const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0))

test.each(['starting', 'restarting'])(
  'a call to one whose program is %s is sent once it is here',
  async (state) => {
    const { seat, presence, requests } = await scripted({ state })
    const call = seat.call('bot/greet', {}, { timeoutMs: 300_000 })
    call.catch(() => {})
    await vi.advanceTimersByTimeAsync(60_000)
    expect(requests()).toEqual([])
    presence('join')
    await settle()
    expect(requests()).toHaveLength(1)
    seat.close()
    await expect(call).rejects.toMatchObject({ code: 'closed' })
  },
)

test.each([
  ['waitForMs', { waitForMs: 5000 }, 5000],
  ['its own timeout', { timeoutMs: 4000 }, 4000],
  ['120 s', { timeoutMs: 1_000_000 }, 120_000],
])('a call to one whose program is starting fails after %s', async (_, options, ms) => {
  const { seat, requests } = await scripted({ state: 'starting' })
  const outcome = vi.fn()
  seat.call('bot/greet', {}, options).catch(outcome)
  await vi.advanceTimersByTimeAsync(ms - 1)
  expect(outcome).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2)
  expect(outcome).toHaveBeenCalledWith(expect.objectContaining(away))
  expect(requests()).toEqual([])
  seat.close()
})

test.each(['failed', 'resting'])('a call to one whose program is %s fails at once', async (state) => {
  const { seat } = await scripted({ state })
  const call = expect(seat.call('bot/greet')).rejects.toMatchObject(away)
  await vi.advanceTimersByTimeAsync(600)
  await call
  seat.close()
})

test('a call that waits for a start fails when that fails', async () => {
  const { seat, presence } = await scripted({ state: 'starting' })
  const call = expect(seat.call('bot/greet')).rejects.toMatchObject(away)
  await settle()
  presence('update', { program: { state: 'failed' } })
  await vi.advanceTimersByTimeAsync(600)
  await call
  seat.close()
})

test('a call that waits for a start can be aborted', async () => {
  const { seat } = await scripted({ state: 'starting' })
  const abort = new AbortController()
  const call = expect(seat.call('bot/greet', {}, { signal: abort.signal })).rejects.toMatchObject({
    code: 'aborted',
  })
  abort.abort('enough')
  await call
  seat.close()
})

test('an open call goes on where its participant is back within two seconds', async () => {
  const { seat, first, presence, requests } = await scripted(undefined, 'present')
  const call = seat.call('bot/greet')
  await settle()
  presence('leave')
  await vi.advanceTimersByTimeAsync(1500)
  presence('join')
  await vi.advanceTimersByTimeAsync(10_000)
  const [{ id = '' } = {}] = requests()
  const response = {
    id: 'r',
    kind: Kind.mcpResponse,
    correlationId: id,
    payload: { result: { content: [] } },
  }
  first.deliver(accepted('bot', response, 9))
  expect((await call).content).toEqual([])
  seat.close()
})

test('an open call fails where the program of its participant was started anew, however soon', async () => {
  const { seat, presence } = await scripted({ state: 'running' }, 'present')
  const outcome = vi.fn()
  seat.call('bot/greet').catch(outcome)
  await settle()
  presence('leave')
  presence('update', { program: { state: 'restarting', count: 1 } })
  await vi.advanceTimersByTimeAsync(500)
  presence('join')
  presence('update', { program: { state: 'running' } })
  await vi.advanceTimersByTimeAsync(2000)
  expect(outcome).toHaveBeenCalledWith(expect.objectContaining(away))
  seat.close()
})

test('a call to one whose program runs waits a moment for it: it has just lost its line, or ended', async () => {
  const { seat, presence, requests } = await scripted({ state: 'running' })
  const call = seat.call('bot/greet')
  call.catch(() => {})
  await vi.advanceTimersByTimeAsync(500)
  presence('join')
  await settle()
  expect(requests()).toHaveLength(1)
  seat.close()
})

test('where everybody lost the connection, calls wait until all had the time to be back', async () => {
  const { seat, first, next, welcome } = await scripted(undefined, 'present')
  const open = vi.fn()
  seat.call('bot/greet', {}, { timeoutMs: 600_000 }).catch(open)
  await settle()
  first.close(1001)
  const second = await next()
  const participants = makeWelcome('me').participants
  const status = 'away' as const
  const botAway = { id: 'bot', kind: 'agent', capabilities: [], status }
  second.welcome({ ...welcome, participants: [...participants, botAway] })
  await settle()
  const fresh = vi.fn()
  seat.call('bot/greet').catch(fresh)
  await vi.advanceTimersByTimeAsync(29_000)
  expect([open, fresh].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
  await vi.advanceTimersByTimeAsync(2000)
  for (const failed of [open, fresh]) expect(failed).toHaveBeenCalledWith(expect.objectContaining(away))
  const last = expect(seat.call('bot/greet')).rejects.toMatchObject(away)
  await vi.advanceTimersByTimeAsync(600)
  await last
  seat.close()
})

test('a tool’s own error is no absence', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  bot.tool('fail', {}, () => {
    throw new Error('it broke')
  })
  await expect(ana.call('bot/fail')).rejects.toBeInstanceOf(ToolError)
})
