import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { AgentCall } from '../src/agent-call.js'
import type { agentHabits } from './habits.js'
import { listCalls, shell, startCoder, usual } from './support/coder.js'

const own = { capabilities: [...usual, { tool: 'coder/*' }] }
const chunk = (content: unknown, more: object = {}, sessionUpdate = 'agent_message_chunk') =>
  ['update', { sessionUpdate, content, ...more }] as const
const text = (value: string) => ({ type: 'text', text: value })
const done = { toolCallId: 'c1', status: 'completed' } as const
const picture = { type: 'image', mimeType: 'image/png', data: 'aGVsbG8=' }
const link = { type: 'resource_link', uri: 'https://example.com/a (1)', name: 'page' }
const file = { type: 'resource', resource: { uri: 'file:///notes.txt', text: 'one' } }

/** The logged content of a call that the agent reports with this content. */
async function getContent(...content: unknown[]): Promise<unknown> {
  const { ask, log } = await startCoder(own)
  const parts = content.map((each) => ({ type: 'content', content: each }))
  await ask(['ask', shell('c1', 'x')], ['progress', { ...done, content: parts }], ['text', 'Done.'])
  return listCalls(log)[0]?.result.content
}

async function loseSession(loses: string): Promise<void> {
  const { ask, log, notes } = await startCoder({ behaviour: { loses } })
  await ask(['exit', 1])
  expect(await ask(['said'])).toMatch(/^You were started again/)
  expect(notes().filter(({ lost }) => lost !== undefined)).toHaveLength(1)
  const report = log.find(({ payload }) => Object(payload).phase === 'error')
  expect(report?.payload).toMatchObject({ message: expect.stringContaining('coder lost its session') })
  expect(await ask(['history'])).toBe('2')
}

const shown: Record<keyof typeof agentHabits, () => Promise<void>> = {
  async 'text behind the end'() {
    const { ask } = await startCoder()
    expect(await ask(['later', 300, 'Here it is.'])).toBe('Here it is.')
    expect(await ask(['text', 'The answer '], ['later', 5, 'is '], ['later', 60, '42.'])).toBe(
      'The answer is 42.',
    )
  },
  async 'text long behind the end'() {
    const { ana, ask, log, seen } = await startCoder()
    expect(await ask(['later', 1000, 'One more '], ['later', 1100, 'thing.'], ['text', 'Done.'])).toBe(
      'Done.',
    )
    const late = await seen(Kind.chat, ({ payload }) => Object(payload).message === 'One more thing.')
    const [question, answer] = log.filter(({ kind }) => kind === Kind.chat)
    expect(late).toMatchObject({ correlationId: question?.id, to: answer?.to })
    expect(ana.isAsked(late as never)).toBe(false)
  },
  async 'a call that goes on'() {
    const { ask, log, seen } = await startCoder(own)
    const call = ['progress', { ...done, content: [{ type: 'content', content: text('late') }] }] as const
    const after = ['after', 400, [call, ['text', 'It is done.']]] as const
    expect(await ask(['ask', shell('c1', 'x')], ['text', 'Wait. '], after)).toBe('Wait. It is done.')
    await seen(Kind.mcpResponse)
    expect(listCalls(log)).toMatchObject([{ result: { content: [text('late')] } }])
  },
  async choices() {
    const { ana, ask, notes, seen } = await startCoder(own)
    const [one, two] = ['one', 'two'].map((id) => ({ optionId: id, kind: 'allow_once', name: id }))
    const asked = ask(['ask', shell('c1', 'x'), [one, two]], ['progress', done], ['text', 'Done.'])
    const { id } = await seen(
      Kind.mcpProposal,
      ({ payload }) => Object(payload).params.arguments.choice === 'two',
    )
    await ana.proposals.approve(id)
    await asked
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'selected', optionId: 'two' } })
  },
  async rejections() {
    const { ana, ask, notes } = await startCoder()
    const ways = [
      { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
      { optionId: 'no', kind: 'reject_once', name: 'No' },
      { optionId: 'other', kind: 'reject_once', name: 'No, use staging' },
    ]
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'policy' }))
    await ask(['ask', shell('c1', 'x'), ways], ['text', 'Then not.'])
    expect(notes()).toContainEqual({ asked: 'c1', outcome: { outcome: 'cancelled' } })
  },
  async 'a sub-agent'() {
    const { ask, log } = await startCoder(own)
    await ask(
      [
        'elsewhere',
        'x',
        [
          ['ask', shell('c1', 'x')],
          ['progress', done],
        ],
      ],
      ['text', 'Done.'],
    )
    expect(listCalls(log)).toHaveLength(1)
  },
  async 'a sub-agent of somebody'() {
    const { ana, log, seen } = await startCoder(own)
    await ana.chat('[["work",20000]]')
    await seen(Kind.reasoningStart)
    const steps = [
      [
        'elsewhere',
        'x',
        [
          ['ask', shell('c1', 'x')],
          ['progress', done],
        ],
      ],
      ['text', 'Done.'],
    ]
    expect((await ana.ask(JSON.stringify(steps), { to: ['coder'] })).text).toBe('Done.')
    const start = log.find(({ kind, context }) => kind === Kind.reasoningStart && context !== undefined)
    expect(start).toMatchObject({ to: ['ana'] })
    expect(listCalls(log)).toHaveLength(1)
  },
  async 'messages with ids'() {
    const { ask, log } = await startCoder()
    const thought = (id: string, value: string) =>
      chunk(text(value), { messageId: id }, 'agent_thought_chunk')
    const said = (id: string, value: string) => chunk(text(value), { messageId: id })
    expect(
      await ask(
        thought('a', 'First '),
        thought('a', 'I look'),
        thought('b', 'Then I decide'),
        said('c', 'One'),
        said('d', 'Two'),
      ),
    ).toBe('One\n\nTwo')
    const thoughts = log.filter(({ kind }) => kind === Kind.reasoningThought)
    expect(thoughts.map(({ payload }) => Object(payload).message).join('\n\n')).toBe(
      'First I look\n\nThen I decide',
    )
  },
  async 'a picture'() {
    const source = { type: 'base64', media_type: 'image/png', data: picture.data }
    expect(await getContent(text('Seen:'), picture, { type: 'image', source })).toEqual([
      text('Seen:'),
      picture,
      picture,
    ])
    const call = new AgentCall('c1', 'look')
    const sound = { type: 'audio', mimeType: 'audio/wav', data: 'A'.repeat(56_000) } as const
    call.update({ id: 'c1', meta: {}, status: 'completed', content: [sound] })
    expect(call.getResult(undefined, 50_000).result).toMatchObject({
      content: [text('[audio: audio/wav, 42 KB, left out: it is too large for the log]')],
    })
    expect(call.getResult(undefined, 100_000).result).toMatchObject({ content: [sound] })
    const { ask } = await startCoder()
    expect(await ask(chunk(picture))).toBe('[image: image/png, 5 B]')
    expect(await ask(chunk([text('So:'), picture]))).toBe('So:\n[image: image/png, 5 B]')
  },
  async 'a link'() {
    expect(await getContent(link, file)).toEqual([link, file])
    const { ask } = await startCoder()
    expect(await ask(chunk(text('See ')), chunk(link))).toBe('See [page](https://example.com/a%20%281%29)')
    expect(await ask(chunk(file))).toBe('notes.txt:\n```\none\n```')
  },
  async 'a deleted file'() {
    const { ask, log } = await startCoder(own)
    const content = [{ type: 'diff', path: '/a', oldText: 'one\n', newText: null }]
    await ask(
      ['ask', { ...shell('c1', 'x'), kind: 'delete', content }],
      ['progress', done],
      ['text', 'Done.'],
    )
    const diffs = [{ path: '/a', oldText: 'one\n', newText: '', deleted: true }]
    expect(listCalls(log)).toMatchObject([{ params: { arguments: { diffs } } }])
  },
  async 'a part that is none'() {
    const { ask, lines, log } = await startCoder(own)
    const call = {
      ...shell('c1', 'x'),
      locations: [null, { path: '/a' }],
      content: [null, { type: 'content' }],
    }
    expect(await ask(['ask', call], ['progress', { ...done, content: [null] }], ['text', 'Done.'])).toBe(
      'Done.',
    )
    expect(listCalls(log)).toMatchObject([{ result: { structuredContent: { locations: [{ path: '/a' }] } } }])
    const part = 'skipped a message of the agent: a part of it cannot be read: params'
    expect(lines.filter((line) => line.startsWith('skipped'))).toEqual([
      `${part}.toolCall.content[0] is null`,
      `${part}.toolCall.locations[0] is null`,
      `${part}.update.content[0] is null`,
    ])
  },
  async 'an unknown update'() {
    const { ask, lines } = await startCoder()
    const some = ['new', 'new', 'newer', 'usage_update'].map(
      (sessionUpdate) => ['update', { sessionUpdate }] as const,
    )
    expect(await ask(...some, ['text', 'Done.'])).toBe('Done.')
    expect(lines.filter((line) => line.startsWith('skipped'))).toEqual([
      'skipped a message of the agent: its kind is not known: "new"',
      'skipped a message of the agent: its kind is not known: "newer"',
    ])
  },
  async 'a command'() {
    const commands = [{ name: 'compact', description: 'Makes it short' }]
    const { ana, ask } = await startCoder({ behaviour: { commands, script: [['said']] } })
    await ask(['text', 'Here.'])
    expect((await ana.ask('/compact now', { to: ['coder'] })).text).toBe('/compact now')
    expect((await ana.ask('@coder /compact', { mention: 'coder' })).text).toBe('/compact')
    expect((await ana.ask('/compact')).text).toBe('ana: /compact')
    expect((await ana.ask('/etc/hosts is broken', { to: ['coder'] })).text).toBe('ana: /etc/hosts is broken')
  },
  async 'a command that it has not'() {
    const commands = [{ name: 'compact', description: 'Makes\nit short' }, { name: 'init' }, null]
    const { ana, ask, log } = await startCoder({ behaviour: { commands, script: [['said']] } })
    await ask(['text', 'Here.'])
    const runs = log.filter(({ kind }) => kind === Kind.reasoningStart).length
    const { text: answer } = await ana.ask('/nonsense', { to: ['coder'] })
    expect(answer).toBe('I have no command /nonsense. I have:\n- /compact: Makes it short\n- /init')
    expect(log.filter(({ kind }) => kind === Kind.reasoningStart)).toHaveLength(runs)
    const other = await startCoder({ behaviour: { script: [['said']] } })
    expect((await other.ana.ask('/nonsense', { to: ['coder'] })).text).toBe('/nonsense')
  },
  async 'a silent command'() {
    const { ana } = await startCoder({ behaviour: { script: [] } })
    expect((await ana.ask('/compact', { to: ['coder'] })).text).toBe('/compact is done, without a word.')
  },
  async 'another version'() {
    for (const protocolVersion of [0, 2, '2', '0.9'])
      await expect(startCoder({ behaviour: { initialize: { protocolVersion } } })).rejects.toMatchObject({
        cause: { code: 'other_version', details: { version: JSON.stringify(protocolVersion), own: 1 } },
      })
    for (const protocolVersion of ['1', null]) {
      const { ask } = await startCoder({ behaviour: { initialize: { protocolVersion } } })
      expect(await ask(['text', 'Done.'])).toBe('Done.')
    }
  },
  async 'a lost session'() {
    for (const how of ['refusal', 'Session not found', 'unknown session: s1']) await loseSession(how)
    // A refusal in a session that the agent has not lost is a normal answer: the prompt is not repeated in a new session.
    const { ask, notes } = await startCoder()
    await ask(['exit', 1])
    expect(await ask(['text', 'So far.'], ['stop', 'refusal'])).toContain('refused')
    expect(await ask(['stop', 'refusal'])).toContain('refused')
    expect(notes().filter(({ opened }) => opened !== undefined)).toHaveLength(3)
  },
  async 'a large id'() {
    const { ask, notes } = await startCoder(own)
    const head = '"id":9007199254740993,"method":"session/request_permission"'
    const options = [{ optionId: 'yes', kind: 'allow_once', name: 'Once' }]
    const params = `"toolCall":${JSON.stringify(shell('c1', 'ls'))},"options":${JSON.stringify(options)}`
    await ask(['hear', 'yes'], ['raw', head, params], ['untilHeard'], ['progress', done], ['text', 'Done.'])
    expect(notes()).toContainEqual({ heard: expect.stringContaining('"id":9007199254740993') })
  },
  async 'null to the tools of the space'() {
    const { space, ask } = await startCoder({
      capabilities: [...usual, { tool: 'desk/*' }],
      participants: { desk: { kind: 'mcp', capabilities: ['*'] } },
    })
    const desk = await space.join('desk')
    desk.tool('look', {}, () => 'seen')
    const send = (method: string, params: string) =>
      ask(['spaceText', `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`])
    for (const params of ['null', '{"cursor":null,"_meta":null}'])
      expect(await send('tools/list', params)).toContain('desk__look')
    expect(await send('tools/call', '{"name":"desk__look","arguments":null,"_meta":null}')).toContain('seen')
  },
  async 'very many updates'() {
    const { ask, log, seen, space } = await startCoder({ participants: { eve: ['chat'] } })
    const eve = await space.join('eve')
    const asked = ask(['stream', 10_000, 20_000])
    await seen(Kind.reasoningThought)
    for (const message of ['one', 'two', 'three']) {
      await eve.chat(message, { to: ['ana'] })
      await seen(Kind.chat, ({ payload }) => Object(payload).message === message)
    }
    const answer = await asked
    const chats = log.flatMap(({ kind, from }) => (kind === Kind.chat ? [from] : []))
    expect(chats).toEqual(['ana', 'eve', 'eve', 'eve', 'coder'])
    const numbers = Array.from({ length: 10_000 }, (_, at) => at).join(' ')
    expect(answer.trim()).toBe(numbers)
    const thoughts = log.filter(({ kind }) => kind === Kind.reasoningThought)
    expect(thoughts.map(({ payload }) => Object(payload).message).join(' ')).toBe(numbers)
    expect(thoughts.length).toBeLessThan(100)
  },
}

test.each(Object.entries(shown))('%s', (_, show) => show())
