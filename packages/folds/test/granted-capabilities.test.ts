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

/** What ben's capabilities are sorted into. */
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

describe('a grant of which nothing is left does not stand', () => {
  test('for it was revoked by its id', () => {
    grant('g', 'ana', ['chat'])
    revoke('ana', { grantId: 'g' })
    grant('h', 'ana', ['chat'])
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['h'])
  })

  test('or by what it gave: its sender can mean its own alone', () => {
    grant('a', 'ana', ['chat'])
    grant('l', 'lead', ['chat'])
    revoke('lead', { capabilities: ['*'] })
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['a'])
  })

  test('or somebody revoked it who may revoke what others gave', () => {
    grant('g', 'lead', ['chat'])
    revoke('ana', { capabilities: ['chat'] })
    expect(sorted('mcp.proposal').grants).toEqual([])
    grant('h', 'lead', ['chat'])
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['h'])
  })

  test('or it was declined', () => {
    grant('g', 'ana', ['chat'])
    grant('h', 'lead', ['chat'])
    append({
      id: 'd',
      from: 'ben',
      kind: 'capability.grant-ack',
      correlationId: 'h',
      payload: { status: 'declined' },
    })
    append({
      id: 'a',
      from: 'ben',
      kind: 'capability.grant-ack',
      correlationId: 'g',
      payload: { status: 'accepted' },
    })
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['g'])
  })

  test('or its time is over', () => {
    grant('g', 'ana', ['chat'])
    grant('h', 'ana', ['chat'], { expiresAt: '2026-01-02T03:04:05Z' })
    expect(sorted('mcp.proposal', 'chat').grants).toEqual(['g'])
  })

  test('or its grantor has lost what it gave', () => {
    grant('g', 'ana', ['mcp.request'])
    grant('h', 'lead', ['mcp.request'])
    expect(sorted('mcp.proposal', 'mcp.request').grants).toEqual(['g'])
  })

  test('or its recipient was invited anew', () => {
    const invite = (id: string, rest: object = {}) =>
      append({
        id,
        from: 'ana',
        kind: 'space.invite',
        payload: { participantId: 'ben', capabilities: ['chat'], ...rest },
      })
    configured({ ana: ['*'], lead: ['chat'] })
    invite('i', { tokenSha256: 'a' })
    grant('g', 'lead', ['chat'])
    invite('j', { tokenSha256: 'b' })
    expect(log.list().map(({ id }) => id)).toEqual(['j'])
    expect(sorted('chat')).toMatchObject({ configured: [], grants: ['j'], others: [] })
    invite('k')
    expect(log.list().map(({ id }) => id)).toEqual(['j', 'k'])
  })
})

test('all of a grant stands, or nothing', () => {
  grant('g', 'ana', ['chat', toFiles])
  expect(sorted('mcp.proposal', 'chat')).toMatchObject({ grants: [], others: ['chat'] })
})

test('two grants of the same both stand, in the order of the log', () => {
  grant('g', 'ana', ['chat'])
  grant('h', 'lead', ['chat'])
  expect(sorted('mcp.proposal', 'chat', 'chat').grants).toEqual(['g', 'h'])
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

test('where the beginning of the log is gone nothing is guessed', () => {
  configured({ ana: ['*'] })
  grant('g', 'ana', ['chat'])
  append({ kind: 'system.space', payload: { event: 'pruned' } })
  expect(sorted('reasoning.*', 'chat')).toMatchObject({
    configured: [],
    grants: ['g'],
    others: ['reasoning.*'],
  })
})
