import { GrantLog, getGrantedCapabilities } from '@meup/folds'
import type { AnyEnvelope, Capability, ParticipantInfo } from '@meup/protocol'
import { beforeEach, describe, expect, test } from 'vitest'

const now = Date.parse('2026-01-02T03:04:05Z')
const toFiles = { kind: 'mcp.request', to: 'files' }

let log: GrantLog
beforeEach(() => {
  log = new GrantLog()
  configured({ ana: ['*'], lead: ['chat'], ben: ['mcp.proposal'] })
})

const append = (fields: object): boolean =>
  log.apply({ ts: '2026-01-01T00:00:00.000Z', payload: {}, ...fields } as unknown as AnyEnvelope)

const configured = (participants: Record<string, readonly Capability[]>): boolean =>
  append({
    kind: 'system.space',
    payload: {
      event: 'configured',
      participants: Object.fromEntries(
        Object.entries(participants).map(([id, capabilities]) => [id, { capabilities }]),
      ),
    },
  })

const grant = (id: string, from: string, capabilities: readonly Capability[], rest: object = {}): boolean =>
  append({ id, from, kind: 'capability.grant', payload: { recipient: 'ben', capabilities, ...rest } })

const revoke = (from: string, what: object): boolean =>
  append({ id: 'r', from, kind: 'capability.revoke', payload: { recipient: 'ben', ...what } })

const info = (id: string, ...capabilities: Capability[]): ParticipantInfo => ({
  id,
  capabilities,
  status: 'away',
})

/** Returns Ben's capabilities by origin. */
function sorted(...held: Capability[]) {
  const all = [info('ana', '*'), info('lead', 'chat'), info('ben', ...held)]
  const ben = getGrantedCapabilities(all, log, now).find(({ id }) => id === 'ben')
  return { ...ben, grants: ben?.grants.map(({ id }) => id) }
}

test('what is configured and what is granted are told apart, with all that a grant says', () => {
  grant('g', 'ana', ['chat', toFiles], { expiresAt: '2027-01-01T00:00:00Z', reason: 'to help' })
  expect(sorted('mcp.proposal', 'chat', toFiles)).toEqual({
    ...{ id: 'ben', status: 'away', configured: ['mcp.proposal'], grants: ['g'], others: [] },
  })
  expect(log.list()).toEqual([
    {
      ...{ id: 'g', ts: '2026-01-01T00:00:00.000Z', grantor: 'ana', recipient: 'ben', reason: 'to help' },
      ...{ capabilities: ['chat', toFiles], expiresAt: '2027-01-01T00:00:00Z' },
    },
  ])
})

describe('a grant whose capabilities the recipient does not hold is not shown', () => {
  test('because somebody revoked it who may revoke what others gave, in an old log', () => {
    grant('g', 'lead', ['chat'])
    revoke('ana', { capabilities: ['chat'] })
    expect(sorted('mcp.proposal').grants).toEqual([])
    grant('h', 'lead', ['chat'])
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['h'])
  })

  test('because its time is over, of which the log says nothing yet', () => {
    grant('g', 'ana', ['chat'])
    grant('h', 'ana', ['chat'], { expiresAt: '2026-01-02T03:04:05Z' })
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['g'])
  })

  test('because its grantor has lost what it gave', () => {
    grant('g', 'ana', ['mcp.request'])
    grant('h', 'lead', ['mcp.request'])
    expect(sorted('mcp.proposal', 'mcp.request').grants).toEqual(['g'])
  })
})

test('of an invited participant nothing is configured', () => {
  configured({ ana: ['*'], lead: ['chat'] })
  const payload = { participantId: 'ben', capabilities: ['chat'], tokenSha256: 'a' }
  append({ id: 'i', from: 'ana', kind: 'space.invite', payload })
  expect(sorted('chat')).toMatchObject({ configured: [], grants: ['i'], others: [] })
})

describe('each envelope', () => {
  test('says whether it has changed anything', () => {
    grant('g', 'ana', ['chat'])
    const changes = [
      configured({ ana: ['*'] }),
      grant('h', 'ana', ['chat']),
      append({ kind: 'dance.step' }),
      revoke('ana', { grantId: 'no' }),
      revoke('ana', { grantId: 'h' }),
    ]
    expect(changes).toEqual([true, true, false, false, true])
  })

  test('was decided on by the configuration before it', () => {
    const [first, second] = ['one', 'two'].map((id) => ({ event: 'configured', participants: { [id]: {} } }))
    for (const [seq, payload] of [first, second].entries())
      append({ seq: 10 * seq + 1, kind: 'system.space', payload })
    expect([1, 2, 11, 12].map((seq) => log.configurationAt(seq))).toEqual([undefined, first, first, second])
  })
})

test('a grant with a pattern of another version is not proven, and breaks nothing', () => {
  configured({ ana: ['work.*'], lead: ['chat'], ben: [] })
  grant('g', 'ana', ['work.dig'])
  grant('h', 'ana', ['!!odd'])
  configured({ ana: ['work.dig'], lead: ['chat'], ben: [] })
  expect(log.list().map(({ id }) => id)).toEqual(['g'])
})

test('all of a grant stands, or nothing', () => {
  grant('g', 'ana', ['chat', toFiles])
  expect(sorted('mcp.proposal', 'chat')).toMatchObject({ grants: [], others: ['chat'] })
})

test('of a participant that the file does not name, everything that was not granted is configured', () => {
  configured({ ana: ['*'] })
  grant('g', 'ana', ['chat'])
  expect(sorted('reasoning.*', 'chat')).toMatchObject({
    configured: ['reasoning.*'],
    grants: ['g'],
    others: [],
  })
})

test.each([
  ['was pruned', () => append({ kind: 'system.space', payload: { event: 'pruned' } })],
  ['was not read', () => false],
])('where the beginning of the log %s nothing is guessed', (_, end) => {
  log = new GrantLog()
  append({ seq: 70, kind: 'system.space', payload: { event: 'configured', participants: { ana: {} } } })
  grant('g', 'ana', ['chat'])
  end()
  expect(sorted('reasoning.*', 'chat')).toMatchObject({
    configured: [],
    grants: ['g'],
    others: ['reasoning.*'],
  })
})
