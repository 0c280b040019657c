import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { formatTrustEvent } from '../src/render/conversation.js'

const ts = '2026-01-02T03:04:05.000Z'
const decision = { decision: 'denied', reasonCode: 'forbidden', message: 'no', count: 1 }

test.for<[object, string]>([
  [
    {
      kind: 'system.decision',
      to: ['ben'],
      payload: { ...decision, attemptedKind: 'mcp.request', attemptedTool: 'rm', count: 3 },
    },
    'ben: mcp.request rm denied: no (forbidden) ×3',
  ],
  [
    {
      kind: 'system.decision',
      to: ['ben', 'system:gateway'],
      payload: {
        ...decision,
        reasonCode: 'capability_violation',
        attemptedKind: 'mcp.request',
        attemptedTool: 'rm',
        attemptedArguments: { path: 'a' },
        missing: { tool: 'files/rm' },
      },
    },
    'ben: mcp.request rm denied: it lacks {"tool":"files/rm"} (capability_violation) · { "path": "a" } — no reason given',
  ],
  [
    { kind: 'system.decision', to: ['ben'], payload: { ...decision, decision: 'review' } },
    'ben: passed for review: no (forbidden)',
  ],
  [
    {
      kind: 'capability.grant',
      payload: { recipient: 'ben', capabilities: ['chat', { kind: 'a.b' }], expiresAt: 'T', reason: 'r' },
    },
    'ana granted ben chat {"kind":"a.b"} until T — r (e)',
  ],
  [{ kind: 'capability.revoke', payload: { recipient: 'ben', grantId: 'g' } }, 'ana revoked g of ben'],
  [{ kind: 'capability.revoke', payload: { recipient: 'ben', capabilities: ['*'] } }, 'ana revoked * of ben'],
  [{ kind: 'capability.grant-ack', correlationId: 'g', payload: { status: 'declined' } }, 'ana declined g'],
  [
    { kind: 'space.invite', payload: { participantId: 'ben', capabilities: [] } },
    'ana invited ben with nothing (e)',
  ],
  [
    { kind: 'space.kick', payload: { participantId: 'ben', untilTs: 'T', reason: 'r' } },
    'ana kicked ben until T — r',
  ],
  [
    { kind: 'participant.pause', to: ['ben', 'cem'], payload: { timeoutSeconds: 30 } },
    'ana paused ben, cem for 30 s',
  ],
  [{ kind: 'participant.resume', to: ['ben'], payload: { reason: 'r' } }, 'ana resumed ben — r'],
])('%# is one line', ([fields, line]) => {
  expect(formatTrustEvent({ id: 'e', from: 'ana', ts, ...fields } as AnyEnvelope)).toBe(`${ts}  ${line}`)
})

test('what others wrote forges no line', () => {
  const payload = {
    recipient: 'ben',
    capabilities: ['chat\nana granted ben *', { kind: 'x\u202ey' }],
    reason: `\u001b[2J\n${'z'.repeat(300)}`,
  }
  const line = formatTrustEvent({
    id: 'e',
    from: 'ana',
    ts,
    kind: 'capability.grant',
    payload,
  } as AnyEnvelope)
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(line.length).toBeLessThan(320)
})
