import { defaultGuard, isOpenProposal, type ProposalView, ProposalViews } from '@meup/folds'
import { type AnyEnvelope, ProtocolError } from '@meup/protocol'
import { expect, test } from 'vitest'
import { formatProposal, toProposalJson } from '../src/lib/proposal-text.js'
import { decideProposal, findOpenProposal } from '../src/lib/proposals.js'

const ts = '2026-01-02T03:04:05.000Z'
const now = Date.parse(ts)

interface Fields {
  readonly id?: string
  readonly from?: string
  readonly kind?: string
  readonly payload?: object
  readonly [other: string]: unknown
}

/** State of ben's proposal `p` after these envelopes. */
function proposed(fields: Fields = {}, ...answers: Fields[]): ProposalView {
  const fold = new ProposalViews(defaultGuard)
  const { payload, ...rest } = fields
  const envelopes = [
    {
      ...{ id: 'p', from: 'ben', to: ['files'], kind: 'mcp.proposal', rationale: 'it is late' },
      ...rest,
      payload: { method: 'tools/call', params: { name: 'read', arguments: { path: 'a' } }, ...payload },
    },
    ...answers.map((answer, at) => ({ id: `a${at}`, correlationId: 'p', payload: {}, ...answer })),
  ]
  for (const [at, envelope] of envelopes.entries()) {
    fold.apply({ protocol: 'meup/v0.3', ts, seq: at + 1, ...envelope } as Parameters<typeof fold.apply>[0])
  }
  const view = fold.get('p')
  if (view === undefined) throw new Error('there is no proposal')
  return view
}

const outcome = (proposal: ProposalView): string | undefined =>
  formatProposal(proposal, now)[1]?.split(' · ').slice(1).join(' · ')

const request = (by: string): Fields => ({
  from: by,
  to: ['files'],
  kind: 'mcp.request',
  payload: { method: 'tools/call' },
})
const no = (kind: string, from: string, payload: object): Fields => ({ from, kind, payload })

test('a proposal is two lines, whatever is in it', () => {
  const path = `\u001b]0;owned\u0007${'x'.repeat(300)}`
  const params = { name: 'read\n\u202efile', arguments: { path } }
  const [first = '', second, ...rest] = formatProposal(
    proposed({ payload: { params }, rationale: 'why\n  not?' }),
    now,
  )
  expect(first).toMatch(
    /^p {2}ben asks whether read file of files may be called with \{"path":"\S+… \(cut; `meup open` shows all\)$/,
  )
  expect(first).not.toMatch(/\p{Cc}/u)
  expect(first.slice(first.indexOf('{'), first.indexOf(' (cut'))).toHaveLength(200)
  expect([second, rest]).toEqual(['  why not? · open', []])
})

test('what does not fit is marked, even where spaces take its place', () => {
  const params = { name: 'run', arguments: { note: ' '.repeat(8187), command: 'rm -rf /' } }
  expect(formatProposal(proposed({ payload: { params } }), now)[0]).toContain('"…":"…"} (cut;')
})

test('secrets in it are not shown', () => {
  const params = { name: 'login', arguments: { password: 'hunter2' } }
  const proposal = proposed({ payload: { params } })
  expect(formatProposal(proposal, now)[0]).toContain('{"password":"[redacted]"}')
  expect(JSON.stringify(toProposalJson(proposal, now))).not.toContain('hunter2')
})

test('of another method the method is told, and of one for everyone no target', () => {
  const [line] = formatProposal(
    proposed({ to: undefined, payload: { method: 'tools/list', params: {} } }),
    now,
  )
  expect(line).toBe('p  ben asks whether tools/list may be called')
})

test.for<[ProposalView, string, boolean]>([
  [proposed(), 'open', true],
  [proposed({ payload: { uses: 3 } }, request('ana')), 'approved by ana · open 2 times', true],
  [proposed({ payload: { expiresAt: '2026-01-02T03:04:35Z' } }), 'open, expires in 30 s', true],
  [proposed({ payload: { expiresAt: ts } }), 'expired', false],
  [proposed({}, request('ana')), 'approved by ana', false],
  [
    proposed({}, no('mcp.reject', 'ana', { reason: 'policy', message: 'no\nway' })),
    'rejected by ana: policy (no way) · open',
    true,
  ],
  [
    proposed(
      {},
      no('mcp.reject', 'ana', { reason: 'no' }),
      no('mcp.withdraw', 'ben', { reason: 'rejected' }),
    ),
    'rejected by ana: no · withdrawn: rejected',
    false,
  ],
  [
    proposed({}, no('mcp.reject', 'ana', { reason: 'no' }), request('cem')),
    'rejected by ana: no · approved by cem',
    false,
  ],
])('%# tells what became of it', ([proposal, text, open]) => {
  expect(outcome(proposal)?.split(' · ').sort()).toEqual(text.split(' · ').sort())
  expect(isOpenProposal(proposal, now)).toBe(open)
})

test('what ran out is expired for programs, too', () => {
  const proposal = proposed({ payload: { expiresAt: ts } })
  expect(toProposalJson(proposal, now)).toMatchObject({
    seq: 1,
    from: 'ben',
    to: ['files'],
    state: 'expired',
  })
  expect(toProposalJson(proposal, now - 1)).toMatchObject({ state: 'open' })
})

test('one that is over is not chosen: what became of it is said', () => {
  const [open, over] = [proposed(), proposed({}, request('ana'))]
  expect(findOpenProposal([over, { ...open, id: 'pq' }], 'p', now).id).toBe('pq')
  expect(() => findOpenProposal([over], 'p', now)).toThrow(
    'the proposal p is no longer open: approved by ana',
  )
  expect(() => findOpenProposal([open], 'q', now)).toThrow('no proposal q is in the log')
})

test('who decides too late reads who was faster, and anything else as the gateway says it', async () => {
  const late = () => Promise.reject(new ProtocolError('proposal_not_found', 'no proposal p is known'))
  const base = { protocol: 'meup/v0.3', ts }
  const payload = { method: 'tools/call', params: { name: 'read', arguments: {} } }
  const log = [
    { ...base, seq: 1, id: 'p', from: 'ben', to: ['files'], kind: 'mcp.proposal', payload },
    { ...base, seq: 2, id: 'r', correlationId: 'p', payload: {}, ...request('carl') },
  ] as unknown as AnyEnvelope[]
  const http = (envelopes: readonly AnyEnvelope[]) =>
    ({
      async *readLog() {
        yield* envelopes
      },
    }) as never
  await expect(decideProposal(http(log), 'p', late)).rejects.toThrow('no longer open: approved by carl')
  await expect(decideProposal(http(log.slice(0, 1)), 'p', late)).rejects.toThrow('no proposal p is known')
  expect(await decideProposal(http(log), 'p', async () => 'done')).toBe('done')
})
