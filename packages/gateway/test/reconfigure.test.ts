import { createGateway, memoryStore, type SpaceConfig, tokenAuthenticator } from '@meup/gateway'
import { dialInMemory, FakeClock, type TestSpaceOptions, testSpaceConfig } from '@meup/gateway/testing'
import { type Envelope, GATEWAY, type WelcomePayload } from '@meup/protocol'
import { defaultSafety } from '@meup/safety'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { faultyDisk } from './faulty-disk.js'

/** A timeout for busy machines. */
const within = { timeout: 15_000 }

const participants = { alice: ['*'], bob: ['chat'], carol: ['chat'] }
const plenty = { perSecond: 1e9, burst: 1e9 }

/**
 * A gateway whose configuration can be changed. The token of each participant is `<name>-token`, unless `changed` has another.
 */
async function open(options: Partial<TestSpaceOptions> = {}, store = memoryStore()) {
  const config = testSpaceConfig({ participants, ...options })
  const tokensOf = (each: SpaceConfig, changed: Record<string, string> = {}) => {
    const ids = Object.keys(each.participants)
    return { test: { ...Object.fromEntries(ids.map((id) => [id, `${id}-token`])), ...changed } }
  }
  const authenticator = tokenAuthenticator(tokensOf(config))
  const clock = new FakeClock()
  const gateway = await createGateway({ spaces: [config], store, authenticator, clock })
  onTestFinished(() => gateway.close())

  async function enter(id?: string, resume = {}) {
    const frames: Envelope[] = []
    const closed: number[] = []
    const connectRequest = { space: 'test', ...(id !== undefined && { token: `${id}-token` }), ...resume }
    const line = await dialInMemory(gateway, connectRequest, {
      message: (text) => frames.push(JSON.parse(text)),
      close: (code) => closed.push(code),
    })
    const send = (envelope: object): void => line.send(JSON.stringify(envelope))
    /** Sends an envelope, and returns the code of its refusal. */
    const codeOf = async (envelope: { id: string } & Record<string, unknown>): Promise<unknown> => {
      send(envelope)
      const answer = await vi.waitFor(() => {
        const found = frames.find((frame) => frame.id === envelope.id || frame.correlationId === envelope.id)
        return found ?? Promise.reject(new Error(`no answer to ${envelope.id}`))
      }, within)
      return answer.payload.code
    }
    const welcomes = () =>
      frames.filter(({ kind }) => kind === 'system.welcome').map(({ payload }) => payload)
    await vi.waitFor(() => expect(welcomes()).toHaveLength(1), within)
    return { frames, closed, send, codeOf, welcomes: welcomes as unknown as () => WelcomePayload[] }
  }

  return {
    gateway,
    enter,
    async reconfigure(changed: Partial<TestSpaceOptions>, tokens?: Record<string, string>) {
      const next = testSpaceConfig({ participants, ...options, ...changed })
      authenticator.replace(tokensOf(next, tokens))
      await gateway.reconfigure([next])
    },
  }
}

const chat = (id: string, more = {}) => ({ id, kind: 'chat', payload: { message: id }, ...more })
/** The gateway's own logged envelopes, abbreviated. */
const record = (frames: readonly Envelope[]): string[] =>
  frames
    .filter(({ from, kind, seq }) => from === GATEWAY && kind !== 'system.decision' && seq !== undefined)
    .map(({ payload }) => {
      const { event, participant } = payload as { event: string; participant?: { id: string } }
      return participant ? `${event} ${participant.id}` : event
    })

verifies('A16', 'other rules of masking are recorded by their digest, and the same ones once', async () => {
  const { enter, reconfigure } = await open()
  const { frames } = await enter('alice')
  const redactions = () =>
    frames.flatMap(({ payload }) => (payload.event === 'configured' ? [payload.redaction] : []))
  for (const maxLength of [100, 100, 200, 100]) await reconfigure({ safety: { ...defaultSafety, maxLength } })
  await vi.waitFor(() => expect(redactions()).toHaveLength(3), within)
  const [first, second, third] = redactions()
  expect(first).toMatch(/^[0-9a-f]{64}$/)
  expect([second === first, third === first]).toEqual([false, true])
})

describe('participants', () => {
  test('that are removed are closed with 4401, gone from the log and unknown; the others stay', async () => {
    const { enter, reconfigure } = await open()
    const [alice, bob, bob2] = [await enter('alice'), await enter('bob'), await enter('bob')]
    const { bob: _, ...rest } = participants
    await reconfigure({ participants: rest })
    await vi.waitFor(() => expect([bob.closed, bob2.closed]).toEqual([[4401], [4401]]), within)
    expect(await alice.codeOf(chat('c1', { to: ['bob'] }))).toBe('participant_not_found')
    expect(await alice.codeOf(chat('c2'))).toBeUndefined()
    expect(alice.closed).toEqual([])
    expect(record(alice.frames)).toEqual(['join alice', 'join bob', 'leave bob', 'configured'])
    await expect(enter('bob')).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('that are added may enter, and everybody hears of them', async () => {
    const { enter, reconfigure } = await open()
    const alice = await enter('alice')
    await expect(enter('dan')).rejects.toMatchObject({ code: 'unauthorized' })
    await reconfigure({ participants: { ...participants, dan: ['chat'] } })
    await vi.waitFor(
      () => expect(record(alice.frames).slice(1)).toEqual(['configured', 'update dan']),
      within,
    )
    const dan = await enter('dan')
    expect(await dan.codeOf(chat('c1', { to: ['alice'] }))).toBeUndefined()
  })

  test('get their new capabilities at once, on the connection that they have, with a new welcome', async () => {
    const { enter, reconfigure } = await open()
    const [alice, bob, carol] = [await enter('alice'), await enter('bob'), await enter('carol')]
    const thought = (id: string) => ({ id, kind: 'reasoning.start', payload: {} })
    expect(await bob.codeOf(thought('t1'))).toBe('capability_violation')
    await reconfigure({ participants: { ...participants, bob: ['reasoning.*'] } })
    await vi.waitFor(() => expect(bob.welcomes()).toHaveLength(2), within)
    expect(bob.welcomes()[1]).toMatchObject({ you: { id: 'bob', capabilities: ['reasoning.*'] } })
    expect(await bob.codeOf(thought('t2'))).toBeUndefined()
    expect(await bob.codeOf(chat('c1'))).toBe('capability_violation')
    expect(await alice.codeOf(chat('c2'))).toBeUndefined()
    expect([alice.welcomes(), carol.welcomes()].map((each) => each.length)).toEqual([1, 1])
    expect(record(alice.frames).slice(3)).toEqual(['configured', 'update bob'])
  })

  test('read what is addressed to others from the moment on that they may, and no longer', async () => {
    const { enter, reconfigure } = await open()
    const [alice, bob] = [await enter('alice'), await enter('bob')]
    const whisper = (id: string) => alice.codeOf(chat(id, { to: ['carol'] }))
    await whisper('before')
    await reconfigure({ participants: { ...participants, bob: ['chat', 'observe.targeted'] } })
    await whisper('meanwhile')
    await reconfigure({})
    await whisper('after')
    await alice.codeOf(chat('mark'))
    await vi.waitFor(() => expect(bob.frames.at(-1)?.id).toBe('mark'), within)
    const heard = bob.frames.filter(({ from }) => from === 'alice').map(({ id }) => id)
    expect(heard).toEqual(['meanwhile', 'mark'])
  })
})

describe('tokens', () => {
  test('that were replaced close what they opened; a new one opens', async () => {
    const { enter, reconfigure } = await open()
    const [alice, bob] = [await enter('alice'), await enter('bob')]
    await reconfigure({}, { bob: 'another-token' })
    await vi.waitFor(() => expect(bob.closed).toEqual([4401]), within)
    expect(await alice.codeOf(chat('c1'))).toBeUndefined()
    await expect(enter('bob')).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(enter('another')).resolves.toMatchObject({ closed: [] })
  })

  test('that are taken away while a connection opens do not open it', async () => {
    const { gateway, reconfigure } = await open()
    const grant = await gateway.admit({ space: 'test', token: 'bob-token', remote: 'here' })
    if (!('open' in grant)) throw new Error(grant.message)
    await reconfigure({}, { bob: 'another-token' })
    const close = vi.fn()
    const sent = vi.fn()
    const connection = {
      remote: 'here',
      pending: 0,
      isGone: false,
      send: sent,
      drained: async () => {},
      close,
    }
    await grant.open(connection, {})
    expect(close).toHaveBeenCalledWith(4401, expect.any(String))
    expect(sent).not.toHaveBeenCalled()
  })
})

describe('guests', () => {
  const guest = { capabilities: ['chat'] }

  test('leave with the profile that let them in', async () => {
    const { enter, reconfigure } = await open({ guest })
    const [alice, visitor] = [await enter('alice'), await enter()]
    await reconfigure({ guest: undefined })
    await vi.waitFor(() => expect(visitor.closed).toEqual([4401]), within)
    expect(await alice.codeOf(chat('c1'))).toBeUndefined()
    await expect(enter()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('stay with other capabilities when the profile changes', async () => {
    const { enter, reconfigure } = await open({ guest })
    const visitor = await enter()
    await reconfigure({ guest: { capabilities: ['reasoning.*'] } })
    await vi.waitFor(() => expect(visitor.welcomes()[1]?.you.capabilities).toEqual(['reasoning.*']), within)
    expect(await visitor.codeOf(chat('c1'))).toBe('capability_violation')
  })
})

describe('limits', () => {
  test('count at once, rates and sizes', async () => {
    const { enter, reconfigure } = await open()
    const bob = await enter('bob')
    expect(await bob.codeOf(chat('c1', { context: 'a/b' }))).toBeUndefined()
    const rates = {
      reasoning: plenty,
      mcp: plenty,
      control: plenty,
      other: plenty,
      bytes: plenty,
      results: plenty,
      work: plenty,
      frames: plenty,
    }
    await reconfigure({
      limits: { contextDepth: 1, rates: { ...rates, chat: { perSecond: 1, burst: 1 } } },
    })
    expect(await bob.codeOf(chat('c2', { context: 'a/b' }))).toBe('invalid_context')
    expect(await bob.codeOf(chat('c3'))).toBe('rate_limited')
    expect(bob.welcomes()).toHaveLength(1)
  })
})

describe('what cannot be done', () => {
  test('a log that takes nothing: all stays as it was, but for tokens that were taken away', async () => {
    const disk = faultyDisk(memoryStore())
    const { enter, reconfigure } = await open({}, disk.store)
    const [bob, carol] = [await enter('bob'), await enter('carol')]
    await bob.codeOf(chat('settled'))
    const stalled = disk.stall()
    const changed = reconfigure(
      { participants: { ...participants, bob: ['*'] }, limits: { contextDepth: 1 } },
      { carol: 'another-token' },
    )
    await vi.waitFor(() => expect(carol.closed).toEqual([4401]), within)
    await stalled.appending
    stalled.fail()
    await expect(changed).rejects.toMatchObject({ code: 'io', details: { space: 'test' } })
    await vi.waitFor(async () => {
      const id = `c${bob.frames.length}`
      expect(await bob.codeOf(chat(id, { context: 'a/b' }))).toBeUndefined()
    }, within)
    expect(await bob.codeOf({ ...chat('t1'), kind: 'reasoning.start' })).toBe('capability_violation')
    expect(bob.welcomes()).toHaveLength(1)
  })

  test('a space that is not open, or a gateway that stops', async () => {
    const { gateway } = await open()
    const other = testSpaceConfig({ name: 'other', participants })
    await expect(gateway.reconfigure([other])).rejects.toThrow('Space other is not open')
    await gateway.close()
    await expect(gateway.reconfigure([])).rejects.toThrow('stopping')
  })
})

test.each([['Alice'], ['al-ice'], ['system'], ['Gateway'], ['guest-1']])(
  '%s is no name for a participant: neither at the start nor later',
  async (name) => {
    const names = { ...participants, [name]: [] }
    const taken = /could be taken for/
    await expect(open({ participants: names })).rejects.toThrow(taken)
    const { reconfigure, enter } = await open()
    await expect(reconfigure({ participants: names })).rejects.toThrow(taken)
    await enter('alice')
  },
)
