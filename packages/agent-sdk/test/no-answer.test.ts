import type { SpaceClient, Turn, TurnOptions } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, onTestFinished, test } from 'vitest'
import { timeoutError } from '../src/client/errors.js'
import { watchComplaints } from './support/complaints.js'
import { eventually } from './support/eventually.js'
import { recordEnvelopes } from './support/record-envelopes.js'

type Handler = (turn: Turn) => Promise<unknown>

interface Here {
  readonly ana: SpaceClient
  readonly ben: SpaceClient
  readonly bot: SpaceClient
}

const core: Capability[] = [
  'chat',
  'reasoning.*',
  { kind: 'mcp.request', to: 'ana', payload: { method: 'tools/call' } },
  { kind: 'mcp.proposal', to: 'ben', payload: { params: { name: 'write' } } },
]

async function here(handler: Handler, options: TurnOptions & { readonly concurrency?: number } = {}) {
  const participants = { ana: ['*'], ben: ['*'], bot: core }
  const space = await createTestSpace({ participants })
  onTestFinished(() => space.close())
  const [ana, ben, bot] = [await space.join('ana'), await space.join('ben'), await space.join('bot')]
  ana.tool('fails', {}, () => {
    throw new Error('no such file')
  })
  ana.tool('hangs', {}, () => new Promise(() => {}))
  ana.tool('adds', { input: Type.Object({ a: Type.Number() }) }, ({ a }) => `${a + 1}`)
  const [heard, errors] = [recordEnvelopes(ana), [] as unknown[]]
  void bot.answer(handler, { onError: (error) => errors.push(error), ...options })
  return { ana, ben, bot, heard, errors }
}

const thinking =
  (work: (turn: Turn) => Promise<unknown>): Handler =>
  async (turn) => {
    await using run = await turn.reason('Looking')
    await run.thought('hm')
    await work(turn)
  }
const never = (): Promise<never> => new Promise(() => {})
async function* half(): AsyncGenerator<string> {
  yield 'The first half'
  throw new Error('the line broke')
}
async function* endless(): AsyncGenerator<string> {
  yield 'The first half'
  await never()
}

/** A handler of a turn, what happens in the meantime, and the resulting text for the asker. */
type Case = readonly [
  name: string,
  handler: Handler,
  answer: string | RegExp,
  meanwhile?: (at: Here) => unknown,
]

const interrupt =
  (by: keyof Here, reason?: string) =>
  async ({ [by]: somebody, ana }: Here) => {
    await eventually(() => expect(ana.runs).toHaveLength(1))
    await somebody.interrupt(ana.runs[0]?.context ?? '', reason)
  }

const cases: readonly Case[] = [
  ['throws at once', () => Promise.reject(new Error('out of paper')), 'I could not answer: out of paper'],
  ['throws what is no error', () => Promise.reject('out of ink'), 'I could not answer: out of ink'],
  [
    'throws while it thinks',
    thinking(() => Promise.reject(new Error('out of paper'))),
    'I could not answer: out of paper',
  ],
  [
    'throws in a function that thinks',
    (turn) => turn.reason('Looking', () => Promise.reject(new Error('out of paper'))),
    'I could not answer: out of paper',
  ],
  [
    'throws in a nested context',
    (turn) =>
      turn.reason('Looking', (run) => run.reason('Closer', () => Promise.reject(new Error('too close')))),
    'I could not answer: too close',
  ],
  [
    'calls a tool that fails',
    (turn) => turn.reason('Looking', (run) => run.call('ana/fails', {}, { why: 'to see' })),
    'I could not answer: no such file',
  ],
  [
    'calls a tool that it may not call',
    (turn) => turn.reason('Looking', (run) => run.call('ben/look', {}, { why: 'to see' })),
    /^I could not answer: "bot" is not allowed to send "mcp\.request"\. .* It lacks the capability \{"tool":"ben\/look"\}\.$/,
  ],
  [
    'calls a tool that does not answer',
    (turn) => turn.reason('Looking', (run) => run.call('ana/hangs', {}, { why: 'to see', timeoutMs: 100 })),
    `I could not answer: ${timeoutError('response', 100).message}`,
  ],
  [
    'gives a tool what it does not take',
    (turn) => turn.reason('Looking', (run) => run.call('ana/adds', { a: 'one' }, { why: 'to see' })),
    /^I could not answer: wrong arguments: /,
  ],
  [
    'proposes what is rejected',
    (turn) => turn.reason('Writing', (run) => run.call('ben/write', {}, { why: 'to keep it' })),
    /^I could not answer: .*reject/,
    async ({ ana }) => {
      const proposal = await new Promise<AnyEnvelope>((resolve) =>
        ana.on('envelope', (each) => {
          if (each.kind === Kind.mcpProposal) resolve(each)
        }),
      )
      await ana.send({ kind: Kind.mcpReject, correlationId: proposal.id, payload: { reason: 'no' } })
    },
  ],
  [
    'calls somebody whom the space does not know',
    (turn) => turn.reason('Looking', (run) => run.call('zoe/look', {}, { why: 'to see' })),
    /^I could not answer: .*zoe/,
  ],
  [
    'answers more than an envelope holds',
    (turn) => turn.reply('x'.repeat(300_000)),
    /^I could not answer: The envelope has 300\d+ bytes/,
  ],
  ['stops half-way through its answer', (turn) => turn.reply(half()), 'I could not answer: the line broke'],
  [
    'is interrupted by another, with a reason',
    thinking(never),
    'I was stopped: interrupted by ben: enough',
    interrupt('ben', 'enough'),
  ],
  ['is interrupted by its asker', thinking(never), 'I was stopped: interrupted by ana', interrupt('ana')],
  [
    'is interrupted while its answer is written',
    thinking((turn) => turn.reply(endless())),
    'I was stopped: interrupted by ben',
    interrupt('ben'),
  ],
  [
    'is interrupted twice',
    thinking(never),
    'I was stopped: interrupted by ana: first',
    async (at) => {
      await interrupt('ana', 'first')(at)
      await at.ben.interrupt(at.ana.runs[0]?.context ?? '', 'second').catch(() => {})
    },
  ],
  [
    'is interrupted, and thinks on all the same',
    thinking(async (turn) => {
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
      await turn.reply('I go on')
    }),
    'I was stopped: interrupted by ben',
    interrupt('ben'),
  ],
  [
    'is restarted',
    thinking(never),
    'I was stopped: restarted by ben',
    async ({ ana, ben }) => {
      await eventually(() => expect(ana.runs).toHaveLength(1))
      await ben.send({ kind: Kind.participantRestart, to: ['bot'] })
    },
  ],
]

describe('the asker of a turn reads why there is no answer, where the agent', () => {
  test.for(cases)('%s', async ([, handler, expected, meanwhile]) => {
    let isFirst = true
    const at = await here(async (turn) => {
      if (!isFirst) return turn.reply('Again.')
      isFirst = false
      return handler(turn)
    })
    const answer = at.ana.ask('Why?', { to: ['bot'] })
    await meanwhile?.(at)
    const { text } = await answer
    if (typeof expected === 'string') expect(text).toBe(expected)
    else expect(text).toMatch(expected)
    // All runs of the turn are closed, with the same reason.
    await eventually(() => expect(at.ana.runs).toEqual([]))
    const own = ({ kind, from }: AnyEnvelope): boolean => kind === Kind.reasoningCancel && from === 'bot'
    const reason = text.replace(/^I (could not answer|was stopped): /, '')
    for (const { payload } of at.heard.all.filter(own)) expect(payload).toEqual({ reason })
    // The failure does not affect the next turn.
    expect((await at.ana.ask('And now?', { to: ['bot'] })).text).toBe('Again.')
  })
})

test.for<[name: string, script: Parameters<typeof scriptedModel>[0], answer: RegExp]>([
  [
    'dies half-way',
    () => [{ text: 'It' }, { end: 'broken' }],
    /^I could not answer: script of scripted broke off its answer without a finish reason\. .* It$/,
  ],
  ['answers nothing', [[{ reasoning: 'Hm.' }]], /^I could not answer: the model gave no answer/],
  ['is overloaded', [[{ error: new Error('Overloaded') }]], /^I could not answer: .*Overloaded/],
])('so it is where the model of an agent %s', async ([, script, expected]) => {
  const space = await createTestSpace({ participants: { ana: ['*'], bot: core } })
  onTestFinished(() => space.close())
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  void bot.agent({ model: scriptedModel(script), onError: () => {} })
  expect((await ana.ask('Why?', { to: ['bot'] })).text).toMatch(expected)
  await eventually(() => expect(ana.runs).toEqual([]))
})

describe('a turn', () => {
  test('that its asker takes back is not answered', async () => {
    const at = await here(thinking(never))
    const { id } = await at.ana.chat('Why?', { to: ['bot'] })
    await eventually(() => expect(at.ana.runs).toHaveLength(1))
    await at.ana.send({
      kind: Kind.chatCancel,
      to: ['bot'],
      correlationId: id,
      payload: { reason: 'found it' },
    })
    await at.ana.chat('last')
    await eventually(() => expect(at.heard.all.at(-1)?.payload).toEqual({ message: 'last' }))
    expect(at.heard.all.filter(({ kind, from }) => kind === Kind.chat && from === 'bot')).toEqual([])
  })

  test('that was answered is not answered again', async () => {
    const at = await here(async (turn) => {
      await turn.reply('Yes.')
      throw new Error('too late')
    })
    expect((await at.ana.ask('Well?', { to: ['bot'] })).text).toBe('Yes.')
    await eventually(() => expect(at.errors).toMatchObject([{ message: 'too late' }]))
    expect(at.heard.all.filter(({ kind, from }) => kind === Kind.chat && from === 'bot')).toHaveLength(1)
  })

  test('that fails is told to the operator with its stack; an interruption is no failure', async () => {
    const at = await here(async (turn) => {
      if (turn.text === 'fail') throw new Error('out of paper')
      await turn.reason('Looking', async (run) => {
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
        await run.thought('too late')
      })
    })
    await at.ana.ask('fail', { to: ['bot'] })
    expect(at.errors).toMatchObject([
      { message: 'out of paper', stack: expect.stringContaining('no-answer') },
    ])
    const answer = at.ana.ask('wait', { to: ['bot'] })
    await interrupt('ben')(at)
    expect((await answer).text).toBe('I was stopped: interrupted by ben')
    expect(at.errors).toHaveLength(1)
  })

  test('that is aborted throws one error from all that it does', async () => {
    const errors: unknown[] = []
    const at = await here(async (turn) => {
      const run = await turn.reason('Looking')
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
      for (const act of [
        () => run.thought('late'),
        () => run.call('ana/fails', {}, { why: 'late' }),
        () => run.reason('late'),
        () => run.conclude('late'),
        () => turn.reply('late'),
        () => turn.reason('late'),
      ])
        await act().catch((error: unknown) => errors.push(error))
      await run.cancel('stopped')
    })
    const answer = at.ana.ask('Why?', { to: ['bot'] })
    await interrupt('ben')(at)
    await answer
    const aborted = { name: 'ConnectionError', code: 'aborted', message: 'aborted: interrupted by ben' }
    expect(errors).toMatchObject(Array.from({ length: 6 }, () => aborted))
  })

  test('that fails tells no secret of its error', async () => {
    const key = `AKIA${'Z7QX'.repeat(4)}`
    const at = await here(() => Promise.reject(new Error(`no access with ${key}`)))
    const { text } = await at.ana.ask('Why?', { to: ['bot'] })
    expect(text).toMatch(/^I could not answer: no access with /)
    expect(text).not.toContain(key)
  })

  test('goes on for the next one, though what reports errors throws', async () => {
    const at = await here(() => Promise.reject(new Error('out of paper')), {
      onError() {
        throw new Error('no log')
      },
    })
    for (const question of ['Why?', 'And now?']) {
      expect((await at.ana.ask(question, { to: ['bot'] })).text).toBe('I could not answer: out of paper')
    }
  })

  test('that was taken back before its time came is not begun', async () => {
    const begun: string[] = []
    const at = await here(
      async (turn) => {
        begun.push(turn.text)
        if (turn.text === 'first') await new Promise((resolve) => setTimeout(resolve, 200))
        await turn.reply('Yes.')
      },
      { concurrency: 1 },
    )
    const first = at.ana.ask('first', { to: ['bot'] })
    const { id } = await at.ana.chat('second', { to: ['bot'] })
    await at.ana.send({ kind: Kind.chatCancel, to: ['bot'], correlationId: id, payload: {} })
    const third = at.ana.ask('third', { to: ['bot'] })
    await Promise.all([first, third])
    expect(begun).toEqual(['first', 'third'])
  })

  test('that a loop throws out of is answered, and ends the loop', async () => {
    const participants = { ana: ['*'], bot: core }
    const space = await createTestSpace({ participants })
    onTestFinished(() => space.close())
    const [ana, bot] = [await space.join('ana'), await space.join('bot')]
    const loop = (async () => {
      for await (const turn of bot.turns()) {
        await using run = await turn.reason('Looking')
        await run.thought('hm')
        throw new Error('out of paper')
      }
    })()
    const over = expect(loop).rejects.toThrow('out of paper')
    expect((await ana.ask('Why?', { to: ['bot'] })).text).toBe(
      'I could not answer: the agent left the question',
    )
    await over
    await eventually(() => expect(ana.runs).toEqual([]))
  })
})

describe('a turn that ends without a reply', () => {
  const silent = thinking(() => Promise.resolve())

  test('is reported in the output of the agent', async () => {
    const complaints = watchComplaints()
    const at = await here(silent)
    const { id } = await at.ana.chat('Why?', { to: ['bot'] })
    await eventually(() => expect(complaints()).toHaveLength(1))
    expect(complaints()).toEqual([
      [expect.stringMatching(/^a turn ended without a reply: ana .*turn\.reply/)],
    ])
    expect(complaints()[0]).toEqual([expect.stringContaining(id)])
    expect(at.errors).toEqual([])
  })

  test('is reported in a loop too', async () => {
    const complaints = watchComplaints()
    const space = await createTestSpace({ participants: { ana: ['*'], bot: core } })
    onTestFinished(() => space.close())
    const [ana, bot] = [await space.join('ana'), await space.join('bot')]
    void (async () => {
      for await (const turn of bot.turns()) await turn.reason('Looking', () => 'It is 5')
    })()
    await ana.chat('Why?')
    await eventually(() => expect(complaints()).toHaveLength(1))
  })

  test.for<[name: string, handler: Handler, options?: TurnOptions, to?: string]>([
    ['was acknowledged', (turn) => turn.acknowledge()],
    ['was handed over', (turn) => turn.handOver('ben')],
    [
      'was answered with a chat',
      ({ space, trigger }) => space.chat('Yes.', { to: ['ana'], correlationId: trigger.id }),
    ],
    ['was for another', silent, { answers: 'all' }, 'ben'],
    ['was acknowledged and the handler went on', async (turn) => void turn.acknowledge()],
  ])('is not reported if it %s', async ([, handler, options, desk]) => {
    const complaints = watchComplaints()
    const participants = { ana: ['*'], ben: ['*'], bot: core } as const
    const space = await createTestSpace({ participants, ...(desk && { frontDesk: desk }) })
    onTestFinished(() => space.close())
    const [ana, bot] = [await space.join('ana'), await space.join('bot')]
    const ended: string[] = []
    void bot.answer(
      async (turn) => {
        if (turn.text === 'last') await turn.reply('Done.')
        else await handler(turn)
        ended.push(turn.text)
      },
      { ...options, concurrency: 1 },
    )
    await ana.chat('Why?', desk === undefined ? { to: ['bot'] } : {})
    await ana.ask('last', { to: ['bot'] })
    expect(ended).toContain('Why?')
    expect(complaints()).toEqual([])
  })
})

test('a question to everyone may be left to another agent', async () => {
  const complaints = watchComplaints()
  const space = await createTestSpace({ participants: { ana: ['*'], ben: core, bot: core } })
  onTestFinished(() => space.close())
  const [ana, ben, bot] = [await space.join('ana'), await space.join('ben'), await space.join('bot')]
  const left: string[] = []
  void bot.answer(async (turn) => void left.push(turn.text), { concurrency: 1 })
  void ben.answer((turn) => turn.reply('I do'))
  expect((await ana.ask('Who knows?')).text).toBe('I do')
  await eventually(() => expect(left).toEqual(['Who knows?']))
  expect(complaints()).toEqual([])
})

test('a function that thinks concludes with the text that it gives', async () => {
  const at = await here(async (turn) => {
    const answer = await turn.reason('Looking', async (run) => {
      await run.thought('hm')
      return run.reason('Closer', () => 'It is 5')
    })
    await turn.reply(answer)
  })
  expect((await at.ana.ask('2 + 3?', { to: ['bot'] })).text).toBe('It is 5')
  const ends = at.heard.all.filter(({ kind }) => kind === Kind.reasoningConclusion)
  expect(ends.map(({ payload }) => payload)).toEqual([{ message: 'It is 5' }, { message: 'It is 5' }])
})

test('a burst over the rate is waited out, and all of it is sent', async () => {
  const count = 250
  const at = await here(async (turn) => {
    await turn.reason('Looking', async (run) => {
      await Promise.all(Array.from({ length: count }, (_, n) => run.thought(`${n}`)))
    })
    await turn.reply('Done.')
  })
  expect((await at.ana.ask('Look!', { to: ['bot'] })).text).toBe('Done.')
  const thoughts = at.heard.all.filter(({ kind }) => kind === Kind.reasoningThought)
  expect(thoughts.map(({ payload }) => (payload as { message: string }).message).sort()).toEqual(
    Array.from({ length: count }, (_, n) => `${n}`).sort(),
  )
})
