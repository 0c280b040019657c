import { SpaceClient } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope } from '@meup/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually } from './support/eventually.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'
import { accepted, type ScriptedLine, scriptedDial } from './support/scripted-line.js'

const participants = { ana: ['*'], bob: ['*'], bot: ['*'] }

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function pair(how: Parameters<Awaited<ReturnType<typeof createTestSpace>>['join']>[1] = {}) {
  const space = await createTestSpace({ participants })
  const [ana, bot] = [await space.join('ana'), await space.join('bot', how)]
  await ana.whenPresent(['bot'])
  return { space, ana, bot, heard: recordEnvelopes(ana), [Symbol.asyncDispose]: () => space.close() }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Resolves when the client has received all envelopes in the log. */
const read = async (ana: SpaceClient, bot: SpaceClient): Promise<void> => caughtUp(ana, recordEnvelopes(bot))

describe('before anything answers', () => {
  test.each([0, 1, 50, 299])(
    'a question and a call after %i ms are answered by what stands after 300',
    async (ms) => {
      await using here = await pair()
      const { ana, bot } = here
      const ready = pause(300)
      await pause(ms)
      const question = ana.ask('ready?', { to: ['bot'], timeoutMs: 20_000 })
      const call = ana.call('bot/greet', {}, { timeoutMs: 20_000 })
      await ready
      void bot.answer((turn) => turn.reply(`yes: ${turn.text}`))
      bot.tool('greet', {}, () => 'hello')
      expect((await question).text).toBe('yes: ready?')
      expect((await call).text).toBe('hello')
    },
  )

  test('questions come in the order of the log, each once, also with those that come meanwhile', async () => {
    await using here = await pair()
    const { ana, bot } = here
    for (const text of ['a', 'b']) await ana.chat(text)
    await read(ana, bot)
    const texts: string[] = []
    void bot.answer(async (turn) => void texts.push(turn.text))
    for (const text of ['c', 'd']) await ana.chat(text)
    await eventually(() => expect(texts.filter((text) => text.length === 1)).toEqual(['a', 'b', 'c', 'd']))
  })

  test('two handlers of one tick both get what was kept', async () => {
    await using here = await pair()
    const { ana, bot } = here
    for (const text of ['one', 'two']) await ana.chat(text)
    await read(ana, bot)
    const texts: string[] = []
    for (const name of ['one', 'two']) {
      void bot.answer(async (turn) => void texts.push(`${name}: ${turn.text}`), {
        answers: ({ payload }) => payload.message === name,
      })
    }
    await eventually(() => expect(texts.toSorted()).toEqual(['one: one', 'two: two']))
  })

  test('a loop over turns begins with what was kept', async () => {
    await using here = await pair()
    await here.ana.chat('first')
    await read(here.ana, here.bot)
    for await (const turn of here.bot.turns()) {
      expect(turn.text).toBe('first')
      break
    }
  })

  test('what was taken back, or answered by hand, is not answered again', async () => {
    await using here = await pair()
    const { ana, bot } = here
    const [taken, answered] = [await ana.chat('never mind'), await ana.chat('by hand')]
    await ana.send({ kind: 'chat.cancel', correlationId: taken.id })
    await bot.chat('done', { correlationId: answered.id })
    await ana.chat('still open')
    await read(ana, bot)
    const texts: string[] = []
    void bot.answer(async (turn) => void texts.push(turn.text))
    await eventually(() => expect(texts).toContain('still open'))
    expect(texts).not.toContain('never mind')
    expect(texts).not.toContain('by hand')
  })

  test('a call that was cancelled is carried out by nobody', async () => {
    await using here = await pair()
    const { ana, bot } = here
    const abort = new AbortController()
    const call = ana.call('bot/greet', {}, { signal: abort.signal })
    call.catch(() => {})
    await here.heard.until(byKind('mcp.request'))
    abort.abort('never mind')
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    await read(ana, bot)
    const greet = vi.fn(() => 'hello')
    bot.tool('greet', {}, greet)
    await ana.call('bot/greet')
    expect(greet).toHaveBeenCalledTimes(1)
  })

  test('serve takes what was kept, too', async () => {
    await using here = await pair()
    const call = here.ana.request('bot', 'resources/list')
    await here.heard.until(byKind('mcp.request'))
    here.bot.serve(async () => ({ result: { resources: [] } }))
    expect(await call).toEqual({ resources: [] })
  })

  test('tools that are asked for meanwhile are those that come soon', async () => {
    await using here = await pair()
    const tools = here.ana.tools(['bot/*'])
    await here.heard.until(byKind('mcp.request'))
    here.bot.tool('greet', {}, () => 'hello')
    expect((await tools).map(({ name }) => name)).toEqual(['greet'])
  })

  test('a participant that watches declines at once, and keeps no messages', async () => {
    await using here = await pair({ unhandled: 'decline' })
    const { ana, bot } = here
    await expect(ana.request('bot', 'resources/list')).rejects.toMatchObject({ code: -32601 })
    await ana.chat('early')
    await read(ana, bot)
    const texts: string[] = []
    void bot.answer(async (turn) => void texts.push(turn.text))
    await ana.chat('late')
    await eventually(() => expect(texts).toContain('late'))
    expect(texts).not.toContain('early')
  })
})

/** A client whose clock the test controls. */
async function timed(kind = 'agent') {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const line = scriptedDial('bot')
  const [bot, first] = await Promise.all([
    SpaceClient.open(line.dial, { url: 'memory:', space: 'test' }),
    line.next().then((opened) => {
      opened.welcome({ participants: [{ id: 'bot', kind, capabilities: ['*'], status: 'present' }] })
      return opened
    }),
  ])
  await vi.advanceTimersByTimeAsync(1)
  return { bot, first }
}

let seq = 0
const asked = (message: string): object =>
  accepted('ana', { id: `q${++seq}`, kind: 'chat', payload: { message } }, seq)
const called = (method: string): object =>
  accepted('ana', { id: `r${++seq}`, kind: 'mcp.request', to: ['bot'], payload: { method } }, seq)
const codes = ({ sent }: ScriptedLine): unknown[] =>
  sent.map(({ payload }) => (payload as { error?: { code: number } }).error?.code)

describe('where nothing ever answers', () => {
  test('it is reported once, after ten seconds, and requests are declined', async () => {
    const { bot, first } = await timed()
    const reports = vi.fn()
    bot.on('unhandled', reports)
    first.deliver(asked('a'), asked('b'), called('tools/call'))
    await vi.advanceTimersByTimeAsync(9999)
    expect([reports.mock.calls, codes(first)]).toEqual([[], []])
    await vi.advanceTimersByTimeAsync(1)
    expect(reports.mock.calls).toEqual([[{ questions: 2, requests: 1 }]])
    expect(codes(first)).toEqual([-32602])
    first.deliver(asked('c'), called('resources/list'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(reports).toHaveBeenCalledTimes(1)
    expect(codes(first)).toEqual([-32602, -32601])
    bot.close()
  })

  test('a program that only offers tools is reported for questions that name it, and for no others', async () => {
    const { bot, first } = await timed()
    const reports = vi.fn()
    bot.on('unhandled', reports)
    bot.serve(async () => undefined)
    first.deliver(asked('for all'))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(reports).not.toHaveBeenCalled()
    const named = { id: `q${++seq}`, kind: 'chat', to: ['bot'], payload: { message: 'for the bot' } }
    first.deliver(accepted('ana', named, seq))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(reports.mock.calls).toEqual([[{ questions: 1, requests: 0 }]])
    bot.close()
  })

  test('it is printed where nobody listens for it', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { bot, first } = await timed()
    first.deliver(asked('a'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(warn).toHaveBeenCalledTimes(1)
    bot.close()
  })

  test('answers to what the participant asked itself are no questions', async () => {
    const { bot, first } = await timed()
    const reports = vi.fn()
    bot.on('unhandled', reports)
    const answer = {
      id: `q${seq + 2}`,
      kind: 'chat',
      to: ['bot'],
      correlationId: 'mine',
      payload: { message: 'a' },
    }
    first.deliver(
      accepted('bot', { id: 'mine', kind: 'chat', to: ['ana'], payload: { message: 'well?' } }, ++seq),
      accepted('ana', answer, ++seq),
    )
    await vi.advanceTimersByTimeAsync(60_000)
    expect(reports).not.toHaveBeenCalled()
    bot.close()
  })

  test('a late handler still gets the questions', async () => {
    const { bot, first } = await timed()
    bot.on('unhandled', () => {})
    first.deliver(asked('a'))
    await vi.advanceTimersByTimeAsync(60_000)
    const texts: string[] = []
    void bot.answer(async (turn) => void texts.push(turn.text))
    await vi.advanceTimersByTimeAsync(1)
    expect(texts).toEqual(['a'])
    bot.close()
  })

  test('no more than a thousand messages are kept, the last ones', async () => {
    const { bot, first } = await timed()
    for (let count = 0; count < 1100; count++) first.deliver(asked(`${count}`))
    const texts: string[] = []
    bot.on('unhandled', () => {})
    void bot.answer(async (turn) => void texts.push(turn.text), { queue: { asker: 2000, all: 2000 } })
    await vi.advanceTimersByTimeAsync(1)
    expect([texts.length, texts[0], texts.at(-1)]).toEqual([1000, '100', '1099'])
    bot.close()
  })

  test.each([
    ['a human', async () => timed('human')],
    [
      'a program that answers by hand',
      async () => {
        const here = await timed()
        here.bot.on('envelope', (_: AnyEnvelope) => {})
        return here
      },
    ],
  ])('%s is not reported for its questions', async (_, enter) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { bot, first } = await enter()
    first.deliver(asked('a'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(warn).not.toHaveBeenCalled()
    bot.close()
  })

  test('tools are told within a second, and later ones as a change', async () => {
    const { bot, first } = await timed()
    first.deliver(called('tools/list'))
    await vi.advanceTimersByTimeAsync(1000)
    expect(first.sent).toMatchObject([{ payload: { result: { tools: [] } } }])
    bot.close()
  })
})
