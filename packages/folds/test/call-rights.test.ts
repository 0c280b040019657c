import {
  type Configuration,
  describeRight,
  type RightSources,
  rightText,
  turnDetail,
  turnMarkdown,
} from '@meup/folds'
import { type Capability, type Envelope, GATEWAY } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { call, chat, type Fields, propose, result, start, toLog } from './support/log.js'
import { foldTurns } from './support/turns.js'

const configured = (capabilities: readonly Capability[], guest?: readonly Capability[]): Fields => ({
  from: GATEWAY,
  kind: 'system.space',
  payload: {
    event: 'configured',
    participants: { agent: { capabilities }, ana: { capabilities: ['*'] } },
    ...(guest && { guest: { capabilities: guest } }),
  },
})
const grant = (expiresAt?: string): Fields => ({
  id: 'g1',
  from: 'ana',
  kind: 'capability.grant',
  payload: { recipient: 'agent', capabilities: ['*'], ...(expiresAt && { expiresAt }) },
})
const invitation: Fields = {
  id: 'i1',
  from: 'ana',
  kind: 'space.invite',
  payload: { participantId: 'agent', capabilities: ['*'] },
}
const until = '2026-02-21T18:00:00Z'
const reading = (allowedBy: string, more: Partial<Envelope> = {}): Fields =>
  call('agent', 'read_file', { path: 'a' }, { to: ['files'], allowedBy, ...more })

/** The sources for rights from a log, for a reader that may read everything. */
const sourcesOf = (log: readonly Envelope[]): RightSources => ({
  find: (id) => log.find((each) => each.id === id),
  configurationAt: (seq) =>
    log.findLast((each) => each.payload.event === 'configured' && (each.seq ?? 0) < seq)?.payload as
      | Configuration
      | undefined,
})

/** Describes the right of the last envelope of a log. */
function wordsOf(...fields: Fields[]): string | undefined {
  const log = toLog(fields)
  const right = describeRight(log.at(-1) as Envelope, sourcesOf(log))
  return right && rightText(right)
}

describe('which right let a call pass', () => {
  test.for<[what: string, log: Fields[], words: string | undefined]>([
    [
      'the first configured capability that matches',
      [configured(['chat', { tool: 'desk/*' }, { tool: 'files/read_*' }, 'mcp.*']), reading('configured')],
      'by space.yaml: files/read_*',
    ],
    [
      'the capability with its conditions',
      [configured([{ tool: 'files/*', arguments: { path: 'a' } }]), reading('configured')],
      'by space.yaml: files/* · {"path":"a"}',
    ],
    [
      'what was configured then, not later',
      [configured([{ tool: 'files/*' }]), configured(['mcp.request']), reading('configured')],
      'by space.yaml: mcp.request',
    ],
    [
      'no capability that does not match',
      [configured([{ tool: 'desk/*' }]), reading('configured')],
      'by space.yaml',
    ],
    [
      'no capability that cannot be compiled',
      [configured([{ tool: 're:(' }]), reading('configured')],
      'by space.yaml',
    ],
    ['no capability of an unknown configuration', [reading('configured')], 'by space.yaml'],
    [
      'what guests may do',
      [configured(['chat'], ['mcp.*']), reading('configured', { from: 'guest-1' })],
      'by space.yaml: mcp.*',
    ],
    [
      'a token of somebody that the configuration does not name',
      [configured(['chat']), reading('configured', { from: 'carol' })],
      "by carol's token",
    ],
    ['a grant', [grant(), reading('g1')], "by ana's grant"],
    ['a grant for a time', [grant(until), reading('g1')], `by ana's grant until ${until}`],
    ['an invitation', [invitation, reading('i1')], "by ana's invitation"],
    ['a grant that is not there', [reading('g1')], 'by the grant g1'],
    [
      'a grant by an id of something else',
      [chat('ana', 'hi', { id: 'g1' }), reading('g1')],
      'by the grant g1',
    ],
    ['nothing, where the envelope does not say', [grant(), call('agent', 'read_file', {})], undefined],
  ])('is named: %s', ([, log, words]) => {
    expect(wordsOf(...log)).toBe(words)
  })

  test('is named with who approved what another had proposed', () => {
    const proposal = propose('agent', 'drop', {}, { id: 'p1' })
    const fulfilment = (from: string): Fields =>
      call(from, 'drop', {}, { correlationId: 'p1', allowedBy: 'configured' })
    const log = (from: string) => [configured(['chat', 'mcp.*']), proposal, fulfilment(from)]
    expect(wordsOf(...log('ana'))).toBe('approved by ana, who may do so by space.yaml: *')
    expect(wordsOf(...log('agent'))).toBe('by space.yaml: mcp.*')
    const answer = call('ana', 'drop', {}, { correlationId: 'c0', allowedBy: 'configured' })
    expect(wordsOf(configured(['chat']), chat('agent', 'do', { id: 'c0' }), answer)).toBe('by space.yaml: *')
  })

  test('is named with times as its reader reads them', () => {
    const log = toLog([grant(until), reading('g1')])
    expect(describeRight(log[1] as Envelope, sourcesOf(log), () => '18:00')?.words).toBe(
      "by ana's grant until 18:00",
    )
  })
})

describe('a turn', () => {
  const inRun = { context: 'run' }
  const fields = [
    configured(['chat', { tool: 'files/*' }]),
    chat('ana', 'go', { id: 'ask', to: ['agent'] }),
    start('agent', 'I go', { id: 'run', correlationId: 'ask' }),
    reading('configured', { id: 'c1', rationale: 'to see', ...inRun }),
    result('c1', 'seen', 'files'),
    propose('agent', 'drop', {}, { id: 'p1', ...inRun }),
    call('ana', 'drop', {}, { id: 'c2', correlationId: 'p1', allowedBy: 'configured' }),
    result('c2', 'dropped'),
    propose('agent', 'wait', {}, { id: 'p2', ...inRun }),
  ]
  const rights = sourcesOf(toLog(fields))
  const record = foldTurns(fields).records.find(({ agent }) => agent === 'agent')

  test('says which right let each of its calls pass, and who approved it', () => {
    const { reasoning } = (record && turnDetail(record, undefined, undefined, rights)) ?? {}
    expect(reasoning?.tool_decisions).toMatchObject([
      { allowed_by: 'configured', right: 'by space.yaml: files/*' },
      {
        allowed_by: 'configured',
        approved_by: 'ana',
        right: 'approved by ana, who may do so by space.yaml: *',
      },
      {},
    ])
    expect(reasoning?.tool_decisions[0]).not.toHaveProperty('approved_by')
    expect(reasoning?.tool_decisions[2]).not.toHaveProperty('allowed_by')
  })

  test('shows it in Markdown, at the call and at the approval', () => {
    const turn = { id: 'T', agent: 'agent', turnNumber: 1, startedAt: 'then', state: 'running' } as const
    const lines = turnMarkdown(turn, toLog(fields).slice(1), { rights }).split('\n')
    expect(lines).toContain(
      'agent calls read_file of files { "path": "a" } — "to see" · by space.yaml: files/* (tool_call: c1)',
    )
    expect(lines).toContain(
      'ana approves drop at 2026-02-21T10:00:06.000Z (approval: p1) — no reason given · by space.yaml: * (tool_call: c2)',
    )
    expect(turnMarkdown(turn, toLog(fields).slice(1))).not.toContain('space.yaml')
  })
})
