import { memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import type { Capability } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import type { Sent } from './client.js'
import { type StartOptions, temporaryFile } from './support.js'
import { begin, call, chat, createTurns, result, sayIn, stage } from './turns.js'

const participants: Record<string, Capability[]> = {
  ana: ['*'],
  ben: ['chat', 'reasoning.*', 'mcp.proposal', { tool: 'tool/look' }],
  tool: ['mcp.response'],
  stranger: ['chat'],
}

type Stage = Awaited<ReturnType<typeof stage>>

const open = (options: Partial<StartOptions> = {}): Promise<Stage> => stage({ participants, ...options })

const asked: [string, ...Sent[]] = ['ana', chat('ask', 'go')]
const begun: [string, ...Sent[]] = ['ben', begin('run', 'ask', 'on it')]
const grant = (more: Sent = {}, terms: object = {}): Sent => ({
  ...{ id: 'g1', kind: 'capability.grant' },
  payload: { recipient: 'ben', capabilities: [{ tool: 'tool/act' }], ...terms },
  ...more,
})
const revocation: Sent = { kind: 'capability.revoke', payload: { recipient: 'ben', grantId: 'g1' } }
const calls = (id: string, name: string): [string, ...Sent[]][] => [
  ['ben', call(id, 'run', name, 'to do it')],
  ['tool', result(id)],
]

/** The rights of ben's calls, as each view words them. */
async function readRights(staged: Pick<Stage, 'as'>, reader = 'stranger') {
  const { turns } = await createTurns(staged, reader)
  const { steps } = (await staged.as(reader).json('/audit?thread_id=test/ben')) as {
    steps: Record<string, unknown>[]
  }
  const write = async (path: string): Promise<string[]> => {
    const text = await (await staged.as(reader).get(path)).text()
    return [...text.matchAll(/^\w+ (?:calls|approves) .*? · (.*) \(tool_call/gm)].map(
      ([, right = '']) => right,
    )
  }
  const pick = ({ allowed_by, approved_by, right }: Record<string, unknown>) =>
    [allowed_by, approved_by, right].filter((each) => each !== undefined)
  return {
    turns: turns.flatMap(({ reasoning }) => reasoning?.tool_decisions ?? []).map((each) => pick({ ...each })),
    steps: steps
      .filter(({ phase }) => phase === 'execute')
      .map(pick)
      .reverse(),
    export: await write('/audit/export?format=markdown&thread_id=test/ben'),
    context: await write('/contexts/run?format=markdown'),
  }
}

const everywhere = (...rights: [allowedBy: string, words: string][]) => ({
  turns: rights,
  steps: rights,
  export: rights.map(([, words]) => words),
  context: rights.map(([, words]) => words),
})

describe('turns, steps and Markdown say which right let a call pass', () => {
  test('what is configured, a grant, and an end of that', async () => {
    const expiresAt = '2030-01-02T18:00:00Z'
    const staged = await open()
    await staged.say(asked, begun, ...calls('c1', 'look'), ['ana', grant({}, { expiresAt })])
    await staged.say(...calls('c2', 'act'))
    const words = everywhere(
      ['configured', 'by space.yaml: tool/look'],
      ['g1', `by ana's grant until ${expiresAt}`],
    )
    expect(await readRights(staged)).toEqual(words)
    await staged.say(['ana', revocation])
    expect(await readRights(staged)).toEqual(words)
  })

  test('an approval, by the right of the participant that approves', async () => {
    const staged = await open()
    const proposal = { ...call('p1', 'run', 'act', 'to do it'), kind: 'mcp.proposal' }
    await staged.say(asked, begun, ['ben', proposal])
    await staged.say(['ana', { id: 'c1', kind: 'mcp.request', correlationId: 'p1' }], ['tool', result('c1')])
    const right = ['configured', 'ana', 'approved by ana, who may do so by space.yaml: *']
    expect(await readRights(staged)).toEqual({
      turns: [right],
      steps: [right],
      export: ['by space.yaml: *'],
      context: ['by space.yaml: *'],
    })
  })

  test('what was configured at the time of the call, also after a restart', async () => {
    const path = temporaryFile('log.db')
    const first = await open({ store: await sqliteStore({ path }) })
    await first.say(asked, begun, ...calls('c1', 'look'))
    const ben = ['chat', 'reasoning.*', 'mcp.*'] as const
    const changed = { participants: { ...participants, ben: [...ben] } }
    await first.gateway.reconfigure([testSpaceConfig(changed)])
    await first.say(...calls('c2', 'look'))
    const words = everywhere(
      ['configured', 'by space.yaml: tool/look'],
      ['configured', 'by space.yaml: mcp.*'],
    )
    expect(await readRights(first)).toEqual(words)
    await first.close()
    expect(await readRights(await open({ ...changed, store: await sqliteStore({ path }) }))).toEqual(words)
  })

  test('a grant that its reader may not read as one that is not in the log', async () => {
    const staged = await open()
    await staged.say(['ana', grant({ to: ['ben'] })], asked, begun, ...calls('c1', 'act'))
    expect(await readRights(staged)).toEqual(everywhere(['g1', 'by the grant g1']))
    expect(await readRights(staged, 'ben')).toEqual(everywhere(['g1', "by ana's grant"]))
  })

  test('what is left of it when the log is pruned', async () => {
    const clock = new FakeClock()
    const store = memoryStore()
    const staged = await open({ clock, store, retention: { days: 10 } })
    const log = await store.open('test')
    await staged.say(['ana', grant()])
    const hour = 3_600_000
    clock.advance(9 * 24 * hour)
    await sayIn(staged)(asked, begun, ...calls('c1', 'look'), ...calls('c2', 'act'))
    clock.advance(24 * hour)
    await expect
      .poll(
        () => {
          clock.advance(hour)
          return log.oldest > 1
        },
        { interval: 5, timeout: 10_000 },
      )
      .toBe(true)
    expect(await readRights(staged)).toEqual(
      everywhere(['configured', 'by space.yaml: tool/look'], ['g1', 'by the grant g1']),
    )
  })
})
