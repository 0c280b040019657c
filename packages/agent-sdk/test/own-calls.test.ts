import {
  type ConnectOptions,
  connect,
  ProtocolError,
  type SpaceClient,
  type ToolError,
  tool,
} from '@meup/agent-sdk'
import { type TestSpaceOptions, testToken } from '@meup/gateway/testing'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentErrors } from '../src/agent/errors.js'
import { eventually } from './support/eventually.js'
import { caughtUp, recordEnvelopes } from './support/record-envelopes.js'
import { standing } from './support/standing.js'

const everything: TestSpaceOptions = { participants: { ana: ['*'], bot: ['*'] } }

async function here(options = everything) {
  const gateway = await standing(options)
  onTestFinished(() => gateway.stop())
  const enter = async (as: string, how: ConnectOptions = {}): Promise<SpaceClient> => {
    const seat = await connect({ url: gateway.url, space: 'test', token: testToken(as), ...how })
    onTestFinished(() => seat.close())
    return seat
  }
  const [ana, bot] = [await enter('ana'), await enter('bot')]
  return { url: gateway.url, enter, ana, bot, heard: recordEnvelopes(ana) }
}

const rejection = <Problem = ToolError>(promise: Promise<unknown>): Promise<Problem> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: Problem) => error,
  )

const calls = (all: readonly AnyEnvelope[]) =>
  all.filter(({ kind }) => kind === Kind.mcpRequest || kind === Kind.mcpResponse)

describe('a call of an own tool', () => {
  test.each(['me/double', 'bot/double'])(
    '%s is logged with its reason, and answered in this process',
    async (name) => {
      const { ana, bot, heard } = await here()
      bot.tool('double', { input: Type.Object({ n: Type.Number() }) }, ({ n }) => n * 2)
      const { text, id } = await bot.call(name, { n: 4 }, { why: 'to have it twice' })
      expect(text).toBe('8')
      await caughtUp(bot, heard)
      const [request, response, ...more] = calls(heard.all)
      expect(more).toEqual([])
      expect(request).toMatchObject({
        ...{ from: 'bot', to: ['bot'], kind: Kind.mcpRequest, rationale: 'to have it twice' },
        payload: { method: 'tools/call', params: { name: 'double', arguments: { n: 4 } } },
      })
      expect(response).toMatchObject({ id, from: 'bot', to: ['bot'], correlationId: request?.id })
      expect(ana.participants.map((each) => each.id)).toEqual(['ana', 'bot'])
    },
  )

  test('runs after the log has it', async () => {
    const { bot } = await here()
    const seqs: (number | undefined)[] = []
    bot.tool('look', {}, (_, { request }) => void seqs.push(request.seq))
    await bot.call('me/look')
    expect(seqs).toEqual([expect.any(Number)])
  })

  test('reports progress, and can be cancelled', async () => {
    const { bot } = await here()
    const aborted: unknown[] = []
    bot.tool('wait', {}, async (_, { signal, progress }) => {
      progress(1, 2, 'half')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted.push(signal.reason)
    })
    const stop = new AbortController()
    const reports: unknown[] = []
    const call = bot.call('me/wait', {}, { signal: stop.signal, onProgress: (each) => reports.push(each) })
    await eventually(() => expect(reports).toEqual([{ progress: 1, total: 2, message: 'half' }]))
    stop.abort('enough')
    expect(await rejection(call)).toMatchObject({ code: 'aborted' })
    await eventually(() => expect(aborted).toEqual([expect.stringMatching(/enough/)]))
  })

  test('asks the participant that is called me, where there is one', async () => {
    const { enter, bot } = await here({ participants: { ...everything.participants, me: ['*'] } })
    const me = await enter('me')
    me.tool('who', {}, () => 'the one called me')
    bot.tool('who', {}, () => 'bot')
    expect((await bot.call('me/who')).text).toBe('the one called me')
    expect((await bot.call('bot/who')).text).toBe('bot')
  })

  test('that is made by a connection of no program is answered by the program', async () => {
    const { enter, bot } = await here()
    bot.tool('who', {}, () => 'the program')
    const command = await enter('bot', { session: false, unhandled: 'decline' })
    expect((await command.call('bot/who')).text).toBe('the program')
  })

  test('is made by the program that asks, of several', async () => {
    const {
      enter,
      heard,
      bot: one,
    } = await here({
      participants: { ana: ['*'], bot: { kind: 'agent', capabilities: ['*'], programs: 'many' } },
    })
    const other = await enter('bot', { session: 'another' })
    one.tool('who', {}, () => 'one')
    other.tool('who', {}, () => 'other')
    expect((await other.call('me/who')).text).toBe('other')
    expect((await one.call('me/who')).text).toBe('one')
    await Promise.all([caughtUp(one, heard), caughtUp(other, heard)])
    expect(calls(heard.all).map(({ kind }) => kind)).toEqual(
      [1, 2].flatMap(() => [Kind.mcpRequest, Kind.mcpResponse]),
    )
  })

  test('that the program logs and answers by itself is not for its tools', async () => {
    const { bot, heard } = await here()
    bot.tool('there', {}, () => 'fine')
    const unhandled: unknown[] = []
    bot.on('unhandled', (each) => unhandled.push(each))
    const payload = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'inside' } }
    const { id: correlationId } = await bot.send({ kind: Kind.mcpRequest, to: ['bot'], payload })
    expect((await bot.call('me/there')).text).toBe('fine')
    const result = { content: [{ type: 'text', text: 'done inside' }] }
    await bot.send({ kind: Kind.mcpResponse, to: ['bot'], correlationId, payload: { result } })
    await caughtUp(bot, heard)
    const answers = calls(heard.all).filter((each) => each.correlationId === correlationId)
    expect(answers.map(({ payload }) => payload)).toEqual([{ result }])
    expect(unhandled).toEqual([])
  })

  test('is one step of the turn that makes it', async () => {
    const { url, ana, bot } = await here()
    bot.tool('look', {}, () => 'fine')
    void bot.answer(async (turn) => {
      const text = await turn.reason(
        'Hm',
        async (run) => (await run.call('me/look', {}, { why: 'to see' })).text,
      )
      await turn.reply(text)
    })
    expect((await ana.ask('How is it?', { to: ['bot'] })).text).toBe('fine')
    const headers = { authorization: `Bearer ${testToken('ana')}` }
    const response = await fetch(`${url}/spaces/test/turns?thread_id=test/bot`, { headers })
    expect(await response.json()).toMatchObject({
      turns: [
        {
          ...{ turn_number: 1, user_input: 'How is it?', response: 'fine', state: 'completed' },
          tool_calls: [{ name: 'look', has_result: true, has_error: false }],
          reasoning: { tool_decisions: [{ rationale: 'to see', outcome: 'success' }] },
        },
      ],
    })
  })
})

describe('a tool with readOnlyHint', () => {
  /** Runs pending microtasks, in which a tool may start, but no timers or I/O, so that nothing arrives from the gateway. */
  const microtasks = async (): Promise<void> => {
    for (let n = 0; n < 100; n++) await Promise.resolve()
  }

  test('says so in the list', async () => {
    const { ana, bot } = await here()
    const annotations = { title: 'Look', readOnlyHint: true }
    bot.tool('look', { annotations }, () => 'seen').tool('touch', {}, () => 'touched')
    expect(await ana.request('bot', 'tools/list')).toMatchObject({
      tools: [{ name: 'look', annotations }, { name: 'touch' }],
    })
  })

  test('runs at once; its answer comes after the call', async () => {
    const { bot, heard } = await here()
    const begun: string[] = []
    bot.tool('look', { annotations: { readOnlyHint: true } }, () => void begun.push('look'))
    bot.tool('touch', {}, () => void begun.push('touch'))
    const made = [bot.call('me/look'), bot.call('me/touch')]
    await microtasks()
    expect(begun).toEqual(['look'])
    await Promise.all(made)
    expect(begun).toEqual(['look', 'touch'])
    await caughtUp(bot, heard)
    expect(
      calls(heard.all)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual([...[Kind.mcpRequest, Kind.mcpRequest], ...[Kind.mcpResponse, Kind.mcpResponse]])
  })

  test('gets a copy of its arguments', async () => {
    const { bot, heard } = await here()
    bot.tool(
      'look',
      { input: Type.Object({ at: Type.Array(Type.Number()) }), annotations: { readOnlyHint: true } },
      ({ at }) => at.push(3),
    )
    const at = [1, 2]
    await bot.call('me/look', { at })
    expect(at).toEqual([1, 2])
    await caughtUp(bot, heard)
    expect(calls(heard.all)[0]?.payload).toMatchObject({ params: { arguments: { at: [1, 2] } } })
  })

  test('is stopped, and its result dropped, where the gateway refuses the call', async () => {
    const { ana, bot, heard } = await here()
    const signals: AbortSignal[] = []
    bot.tool('look', { annotations: { readOnlyHint: true } }, (_, { signal }) => {
      signals.push(signal)
      return 'seen'
    })
    const errors: unknown[] = []
    bot.on('requestError', (error) => errors.push(error))
    await ana.pause(['bot'])
    expect(await rejection<ProtocolError>(bot.call('me/look'))).toMatchObject({ code: 'participant_paused' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await ana.resume(['bot'])
    await caughtUp(bot, heard)
    expect(calls(heard.all)).toEqual([])
    expect(errors).toEqual([])
    expect((await bot.call('me/look')).text).toBe('seen')
  })

  test('does not run for what may only be proposed', async () => {
    const { ana, bot } = await here({ participants: { ana: ['*'], bot: ['mcp.proposal'] } })
    let runs = 0
    bot.tool('look', { annotations: { readOnlyHint: true } }, () => `seen ${++runs}`)
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id))
    const { text, approvedBy } = await bot.call('me/look')
    expect({ text, approvedBy }).toEqual({ text: 'seen 1', approvedBy: 'ana' })
  })
})

describe('the capability for it', () => {
  test('{ tool: "me/*" } allows own tools, and no others', async () => {
    const { enter, bot } = await here({ participants: { ana: ['*'], files: ['*'], bot: [{ tool: 'me/*' }] } })
    const files = await enter('files')
    bot.tool('look', {}, () => 'seen')
    files.tool('look', {}, () => 'seen')
    expect((await bot.call('me/look')).text).toBe('seen')
    expect(bot.capabilities).toEqual([{ tool: 'bot/*' }])
    expect(await rejection<ProtocolError>(bot.call('files/look'))).toMatchObject({
      code: 'capability_violation',
    })
  })

  test('is named where it is missing', async () => {
    const { bot } = await here({ participants: { ana: ['*'], bot: ['chat'] } })
    bot.tool('look', {}, () => 'seen')
    const error = await rejection<ProtocolError>(bot.call('me/look'))
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({
      code: 'capability_violation',
      message: '"bot" may not call its own tools. Add { tool: "me/*" } to its capabilities in space.yaml.',
    })
  })
})

describe('bad input', () => {
  test('a tool that throws is a failed call', async () => {
    const { bot } = await here()
    bot.tool('break', {}, () => {
      throw new Error('it is broken')
    })
    expect(await rejection(bot.call('me/break'))).toMatchObject({
      name: 'ToolError',
      message: 'it is broken',
    })
  })

  test('one that hangs is given up after timeoutMs, and its signal is aborted', async () => {
    const { bot } = await here()
    const signals: AbortSignal[] = []
    bot.tool('hang', {}, (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    expect(await rejection(bot.call('me/hang', {}, { timeoutMs: 500 }))).toMatchObject({ code: 'timeout' })
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true]))
  })

  test('a result of 5 MiB is an error that says so', async () => {
    const { bot } = await here()
    bot.tool('read', {}, () => 'x'.repeat(5 * 1024 * 1024))
    expect(await rejection(bot.call('me/read'))).toMatchObject({
      name: 'ToolError',
      message: expect.stringMatching(
        /^The tool has run\. Its result has 52\d+ bytes and is too large for this space\. /,
      ),
    })
  })

  test.each(['☃', 'a/b', '../c', ' d ', 'e\'"f', 'g\u202eh', 'x'.repeat(1000), '__proto__'])(
    'the odd name %j is called as it is',
    async (name) => {
      const { bot } = await here()
      bot.tool(name, {}, (_, { request }) => ({ called: request.payload.params?.name }))
      expect((await bot.call(`me/${name}`)).data).toEqual({ called: name })
    },
  )

  test('a tool that is not there is refused, and so is one without a name', async () => {
    const { bot } = await here()
    bot.tool('there', {}, () => 'fine')
    expect(await rejection(bot.call('me/gone'))).toMatchObject({ message: 'there is no tool gone' })
    expect(() => bot.tool('', {}, () => 'fine')).toThrow(agentErrors.unnamedTool().message)
  })
})

describe('a tool as a value', () => {
  const weather = tool(
    'weather',
    { input: Type.Object({ city: Type.String() }) },
    ({ city }) => `rain in ${city}`,
  )

  test('is offered as it is, also twice', async () => {
    const { ana, bot } = await here()
    bot.tool(weather).tool(weather)
    expect((await ana.call('bot/weather', { city: 'Oslo' })).text).toBe('rain in Oslo')
  })

  test('does not take the place of another one', async () => {
    const { bot } = await here()
    bot.tool(weather)
    expect(() => bot.tool(tool('weather', {}, () => 'sun'))).toThrow(
      agentErrors.offeredTool('weather').message,
    )
  })

  test('with a wrong schema is refused when it is made', () => {
    expect(() => tool('weather', { input: { type: 'objekt' } }, () => 'sun')).toThrow(
      /^the tool weather cannot be offered: its input is not a JSON Schema: \/type must be one of /,
    )
  })
})
