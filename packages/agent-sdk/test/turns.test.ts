import type { Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { describe, expect, test, vi } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { byKind, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

/** A long timeout, for busy machines. */
const within = { timeout: 15_000 }

const participants = { ana: ['*'], bob: ['*'], bot: ['*'] }

async function three() {
  const space = await createTestSpace({ participants })
  const [ana, bob, bot] = await Promise.all([space.join('ana'), space.join('bob'), space.join('bot')])
  return { ana, bob, bot, [Symbol.asyncDispose]: () => space.close() }
}

const whenAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason))
  })

describe('what begins a turn', () => {
  test('a question to everyone or to this participant, and nothing else', async () => {
    await using here = await three()
    const texts: string[] = []
    void here.bot.answer(async (turn) => void texts.push(turn.text))
    const question = await here.ana.chat('to all')
    await here.ana.chat('an answer to somebody', { correlationId: question.id })
    await here.ana.chat('to bot', { to: ['bot'] })
    await here.ana.chat('a follow-up to bot', { to: ['bot'], correlationId: question.id })
    await here.ana.chat('to bob', { to: ['bob'] })
    await here.ana.chat('to both', { to: ['bob', 'bot'] })
    await here.ana.chat('aside', { context: 'aside' })
    await here.ana.chat('aside to bot', { context: 'aside', to: ['bot'] })
    await here.bot.chat('to myself')
    await here.ana.send({ kind: 'test.thing' })
    await here.ana.chat('last')
    await eventually(() => expect(texts).toContain('last'))
    expect(texts).toEqual(['to all', 'to bot', 'a follow-up to bot', 'to both', 'last'])
  })

  test('or what the agent says', async () => {
    await using here = await three()
    const texts: string[] = []
    void here.bot.answer(async (turn) => void texts.push(turn.text), {
      answers: ({ payload }, { id }) => payload.message.includes(`@${id}`),
    })
    await here.ana.chat('hello')
    await here.ana.chat('hello @bot', { context: 'aside' })
    await here.bot.chat('I am @bot')
    await here.ana.chat('bye @bot')
    await eventually(() => expect(texts).toContain('bye @bot'))
    expect(texts).toEqual(['hello @bot', 'bye @bot'])
  })

  test('from when the turns are asked for, not from when they are waited for', async () => {
    await using here = await three()
    const turns = here.bot.turns()
    const { id } = await here.ana.chat('early')
    await caughtUp(here.ana, recordEnvelopes(here.bot))
    const { value } = await turns.next()
    expect((value as Turn).trigger.id).toBe(id)
  })
})

describe('a turn', () => {
  test('knows its question, and answers it in the main conversation', async () => {
    await using here = await three()
    const heard = recordEnvelopes(here.ana)
    const question = await Promise.all([here.bot.turns().next(), here.ana.chat('why?')])
    const [{ value: turn }, asked] = question as [{ value: Turn }, { id: string }]
    expect([turn.text, turn.from, turn.trigger.id]).toEqual(['why?', 'ana', asked.id])
    const answer = await turn.reply('because', { format: 'markdown' })
    expect(answer).toMatchObject({ kind: 'chat', correlationId: asked.id })
    expect(answer.payload).toEqual({ message: 'because', format: 'markdown' })
    expect(answer).not.toHaveProperty('to')
    expect(answer).not.toHaveProperty('context')
    expect(await heard.until(({ id }) => id === answer.id)).toEqual(answer)
  })

  test('answers to its asker what was asked of some; unless it says otherwise', async () => {
    await using here = await three()
    const turns = here.bot.turns()
    const asked = await here.ana.chat('between us', { to: ['bot', 'bob'] })
    const { value: turn } = (await turns.next()) as { value: Turn }
    expect(await turn.reply('yes')).toMatchObject({ to: ['ana'], correlationId: asked.id })
    expect(await turn.reply('all three', { to: ['ana', 'bob'] })).toMatchObject({ to: ['ana', 'bob'] })
  })

  test('takes note without an answer', async () => {
    await using here = await three()
    const turns = here.bot.turns()
    const asked = await here.ana.chat('just so you know')
    const { value: turn } = (await turns.next()) as { value: Turn }
    const note = { kind: 'chat.acknowledge', to: ['ana'], correlationId: asked.id }
    expect(await turn.acknowledge()).toMatchObject({ ...note, payload: {} })
    expect(await turn.acknowledge('read')).toMatchObject({ ...note, payload: { status: 'read' } })
  })
})

describe('one after the other', () => {
  test('in the order they were asked, until the space is closed', async () => {
    await using here = await three()
    const texts: string[] = []
    const done = (async () => {
      for await (const turn of here.bot.turns()) {
        if (texts.push(turn.text) === 3) here.bot.close()
      }
    })()
    for (const text of ['a', 'b', 'c']) await here.ana.chat(text)
    await done
    expect(texts).toEqual(['a', 'b', 'c'])
  })

  test('a turn that is over cannot be taken back', async () => {
    await using here = await three()
    const [heard, all] = [recordEnvelopes(here.bot), [] as Turn[]]
    const done = (async () => {
      for await (const turn of here.bot.turns()) {
        all.push(turn)
        if (turn.text === 'second') await whenAborted(turn.signal)
      }
    })()
    const asked = [await here.ana.chat('first'), await here.ana.chat('second')]
    await eventually(() => expect(all).toHaveLength(2))
    for (const { id } of asked) await here.ana.send({ kind: 'chat.cancel', correlationId: id })
    await caughtUp(here.ana, heard)
    expect(all.map(({ signal }) => signal.aborted)).toEqual([false, true])
    here.bot.close()
    await done
  })

  test('leaving the loop stops listening', async () => {
    await using here = await three()
    const before = here.bot.listenerCount('envelope')
    const turns = here.bot.turns()
    await here.ana.chat('hello')
    for await (const turn of turns) {
      expect(turn.text).toBe('hello')
      break
    }
    expect(here.bot.listenerCount('envelope')).toBe(before)
  })
})

describe('several at once', () => {
  test('each in its own context, as many as asked for', async () => {
    await using here = await three()
    const heard = recordEnvelopes(here.ana)
    const all = deferred()
    let running = 0
    void here.bot.answer(async (turn) => {
      if (++running === 3) all.resolve()
      await using run = await turn.reason(`about ${turn.text}`)
      await all.promise
      await run.thought(`hm, ${turn.text}`)
      await run.conclude()
      await turn.reply(`${turn.text}!`)
    })
    const asked = await Promise.all(['a', 'b', 'c'].map((text) => here.ana.chat(text)))
    for (const { id, payload } of asked) {
      const { message } = payload as { message: string }
      const answer = await heard.until((e) => e.kind === 'chat' && e.correlationId === id)
      expect(answer.payload).toEqual({ message: `${message}!` })
      const start = await heard.until((e) => e.kind === 'reasoning.start' && e.correlationId === id)
      const inside = heard.all.filter(({ context }) => context === start.id)
      expect(inside.map((e) => [e.kind, (e.payload as { message?: string }).message])).toEqual([
        ['reasoning.thought', `hm, ${message}`],
        ['reasoning.conclusion', undefined],
      ])
    }
  })

  test('and no more than that', async () => {
    await using here = await three()
    const [gates, begun] = [[deferred(), deferred(), deferred()], [] as string[]]
    let [running, maxRunning] = [0, 0]
    const done = here.bot.answer(
      async ({ text }) => {
        maxRunning = Math.max(maxRunning, ++running)
        begun.push(text)
        await gates[Number(text)]?.promise
        running--
      },
      { concurrency: 2 },
    )
    const heard = recordEnvelopes(here.bot)
    for (const text of ['0', '1', '2']) await here.ana.chat(text)
    await caughtUp(here.ana, heard)
    await eventually(() => expect(begun).toEqual(['0', '1']))
    gates[1]?.resolve()
    await eventually(() => expect(begun).toEqual(['0', '1', '2']))
    for (const gate of gates) gate.resolve()
    here.bot.close()
    await done
    expect(maxRunning).toBe(2)
  })

  test('one that fails is reported, and the others go on', async () => {
    await using here = await three()
    const [failed, texts] = [[] as unknown[], [] as string[]]
    const onError = (error: unknown, turn: Turn) => void failed.push([String(error), turn.text])
    void here.bot.answer(
      async ({ text }) => {
        texts.push(text)
        if (text === 'bad') throw new Error('cannot')
      },
      { onError, concurrency: 1 },
    )
    for (const text of ['bad', 'good', 'bad']) await here.ana.chat(text)
    await eventually(() => expect(failed).toHaveLength(2))
    expect(texts).toEqual(['bad', 'good', 'bad'])
    expect(failed).toEqual([
      ['Error: cannot', 'bad'],
      ['Error: cannot', 'bad'],
    ])
  })

  test('one that fails is printed where nobody asked to be told', async () => {
    await using here = await three()
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    void here.bot.answer(() => Promise.reject(new Error('cannot')))
    await here.ana.chat('go')
    await eventually(() => expect(printed).toHaveBeenCalledWith(expect.any(String), new Error('cannot')))
    printed.mockRestore()
  })

  test('ends with the space, when every turn has ended', async () => {
    await using here = await three()
    const [begun, finish] = [deferred<Turn>(), deferred()]
    let ended = false
    const done = here.bot
      .answer(async (turn) => {
        begun.resolve(turn)
        await finish.promise
      })
      .then(() => {
        ended = true
      })
    await here.ana.chat('go')
    const turn = await begun.promise
    here.bot.close()
    expect(await whenAborted(turn.signal)).toBe('the space was closed')
    expect(ended).toBe(false)
    finish.resolve()
    await done
  })
})

test('an agent hears what others add to a run of a turn, nested ones too, and nothing else', async () => {
  await using here = await three()
  const [outer, inner, done] = [deferred<string>(), deferred<string>(), deferred()]
  const added: unknown[] = []
  const working = here.bot.answer(
    async (turn) => {
      await turn.reason('looking', async (run) => {
        outer.resolve(run.context)
        await run.thought('a thought of my own')
        await run.reason('closer', (nested) => {
          inner.resolve(nested.context)
          return done.promise
        })
      })
      await turn.reply('done')
    },
    {
      onContribution: ({ from, context, correlationId, payload }, turn) => {
        added.push([from, context, correlationId, payload.message, turn.text])
        if (added.length === 1) throw new Error('a handler that throws ends nothing')
      },
      onError: () => {},
    },
  )
  const asked = await here.ana.chat('look')
  const elsewhere = await here.bob.reason('something else')
  await here.ana.contribute(elsewhere.context, 'not for bot')
  await here.ana.contribute(await outer.promise, 'have you seen the log?', { to: asked.id, phase: 'plan' })
  await here.bob.contribute(await inner.promise, 'or the config?')
  await here.ana.interrupt(elsewhere.context)
  await vi.waitFor(
    async () =>
      expect(added).toEqual([
        ['ana', await outer.promise, asked.id, 'have you seen the log?', 'look'],
        ['bob', await inner.promise, undefined, 'or the config?', 'look'],
      ]),
    within,
  )
  done.resolve()
  here.bot.close()
  await working
})

describe('taking a question back', () => {
  test('aborts its turn, if the asker does it', async () => {
    await using here = await three()
    const heard = recordEnvelopes(here.bot)
    const turns = new Map<string, Turn>()
    const working = here.bot.answer(async (turn) => {
      turns.set(turn.text, turn)
      await whenAborted(turn.signal)
    })
    const [one, two] = [await here.ana.chat('one'), await here.ana.chat('two')]
    await vi.waitFor(() => expect([...turns.keys()]).toEqual(['one', 'two']), within)
    const cancel = { kind: 'chat.cancel', correlationId: one.id }
    await here.bob.send({ ...cancel, payload: { reason: 'none of my business' } })
    await caughtUp(here.bob, heard)
    expect(turns.get('one')?.signal.aborted).toBe(false)
    await here.ana.send({
      ...cancel,
      correlationId: ['unrelated', one.id],
      payload: { reason: 'never mind' },
    })
    await caughtUp(here.ana, heard)
    expect(turns.get('one')?.signal.reason).toBe('never mind')
    expect(turns.get('two')?.signal.aborted).toBe(false)
    await here.ana.send({ kind: 'chat.cancel', correlationId: two.id })
    await caughtUp(here.ana, heard)
    expect(turns.get('two')?.signal.aborted).toBe(true)
    expect(heard.all.filter(byKind('chat.cancel'))).toHaveLength(3)
    here.bot.close()
    await working
  })
})
