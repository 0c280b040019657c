import { dialWs, type Transport } from '@meup/agent-sdk'
import type { FakeClock } from '@meup/gateway/testing'
import type { Capability, Envelope } from '@meup/protocol'

/** Who takes part, and what each may do: the apprentice may call no tool, and asks. */
export const cast: Readonly<Record<string, readonly Capability[]>> = {
  ana: ['*'],
  security: ['chat', 'reasoning.*', 'mcp.*'],
  apprentice: ['chat', 'reasoning.*', 'mcp.proposal', 'mcp.withdraw'],
  files: ['mcp.response'],
  // Looks on while the story is told.
  reader: ['chat', 'observe.targeted'],
}

type Line = { readonly id: string; readonly kind: string } & Record<string, unknown>
type Step = readonly [from: string, line: Line]

const call = (id: string, context: string, name: string, args: object, more: object = {}): Line => ({
  id,
  kind: 'mcp.request',
  to: ['files'],
  context,
  payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
  ...more,
})
const answer = (id: string, correlationId: string, result: object): Line => ({
  id,
  kind: 'mcp.response',
  to: ['security'],
  correlationId,
  payload: { jsonrpc: '2.0', id: correlationId, ...result },
})
const text = (said: string, more: object = {}): object => ({
  result: { content: [{ type: 'text', text: said }], ...more },
})
const says = (id: string, kind: string, message: string, more: object = {}): Line => ({
  id,
  kind,
  payload: { message },
  ...more,
})

/** Names of a key's lines are apart, so that nobody takes this file for one that holds a key. */
const key = [
  '-----BEGIN PRIVATE',
  'KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE',
  'KEY-----',
].join(' ')

/**
 * Parallel tools whose answers come in another order, nesting, a tool that fails, a rationale that is missing and one that
 * is withheld, a proposal that is rejected, a call that the gateway denies, a turn without tools, and a job.
 */
export const story: readonly Step[] = [
  ['ana', says('c1', 'chat', 'Should we deploy the auth change?', { to: ['security'] })],
  ['security', says('r1', 'reasoning.start', 'Two reports decide this.', { correlationId: 'c1' })],
  [
    'security',
    says('t1', 'reasoning.thought', '[思考] It touches tokens.\n[計画] Read both reports at once.', {
      context: 'r1',
    }),
  ],
  [
    'security',
    call(
      'q1',
      'r1',
      'read_report',
      { path: 'tests.xml' },
      { parallelGroup: 0, rationale: 'the tests decide' },
    ),
  ],
  [
    'security',
    call(
      'q2',
      'r1',
      'read_report',
      { path: 'load.csv', token: 'not-for-anyone' },
      { parallelGroup: 0, rationale: 'the load decides' },
    ),
  ],
  ['files', answer('a2', 'q2', text('p99 412 ms'))],
  ['files', answer('a1', 'q1', text('212 passed, 1 failed: "expired token is refused" — Ablauf prüfen'))],
  ['security', says('n1', 'reasoning.start', 'What does the failing test cover?', { context: 'r1' })],
  ['security', call('q3', 'r1/n1', 'read_source', { path: 'missing.ts' })],
  ['files', answer('a3', 'q3', text('no such file: missing.ts', { isError: true }))],
  [
    'security',
    says('t2', 'reasoning.thought', 'エラー: 読めませんでした。The source is not there.', {
      context: 'r1/n1',
    }),
  ],
  ['security', call('q4', 'r1/n1', 'read_source', { path: 'token.ts' }, { rationale: `the key is ${key}` })],
  ['files', answer('a4', 'q4', text('export const refuse = () => true'))],
  ['security', says('n1e', 'reasoning.conclusion', 'It covers expiry.', { context: 'r1/n1' })],
  ['security', says('r1e', 'reasoning.conclusion', 'One security test fails.', { context: 'r1' })],
  ['security', says('m1', 'chat', 'I recommend against deploying.', { correlationId: 'c1' })],
  ['ana', says('c2', 'chat', 'Clean up the old reports.', { to: ['apprentice'] })],
  ['apprentice', says('r2', 'reasoning.start', 'I must ask before I delete.', { correlationId: 'c2' })],
  [
    'apprentice',
    {
      id: 'p1',
      kind: 'mcp.proposal',
      to: ['files'],
      context: 'r2',
      rationale: 'they are older than a month',
      payload: {
        method: 'tools/call',
        params: { name: 'delete_reports', arguments: { before: '2026-01-01' } },
      },
    },
  ],
  [
    'ana',
    {
      id: 'x1',
      kind: 'mcp.reject',
      correlationId: 'p1',
      payload: { reason: 'unsafe', message: 'The audit needs them.' },
    },
  ],
  ['apprentice', call('q5', 'r2', 'delete_reports', { before: '2026-01-01' }, { rationale: 'I try anyway' })],
  ['apprentice', says('r2e', 'reasoning.conclusion', 'I may not.', { context: 'r2' })],
  ['apprentice', says('m2', 'chat', 'I was not allowed to.', { correlationId: 'c2' })],
  ['ana', says('c3', 'chat', 'Thank you.', { to: ['security'] })],
  ['security', says('m3', 'chat', 'You are welcome.', { correlationId: 'c3' })],
  ['security', says('j1', 'reasoning.start', 'Nightly check.')],
  ['security', call('q6', 'j1', 'list_reports', {}, { rationale: 'to see what is new' })],
  ['files', answer('a6', 'q6', text('tests.xml\nload.csv'))],
  ['security', says('j1e', 'reasoning.conclusion', 'Nothing new.', { context: 'j1' })],
]

export interface Place {
  readonly url: string
  readonly space: string
  tokenOf(participant: string): string
}

/** Tells the story over real sockets, a second a line; gives the seq of its last envelope. */
export async function tell({ url, space, tokenOf }: Place, clock: FakeClock): Promise<number> {
  const speakers = new Map<string, Awaited<ReturnType<typeof enter>>>()
  for (const id of new Set(story.map(([from]) => from))) {
    speakers.set(id, await enter({ url, space, token: tokenOf(id) }))
  }
  let last = 0
  for (const [from, line] of story) {
    clock.advance(1000)
    last = (await speakers.get(from)?.say(line)) ?? last
  }
  for (const speaker of speakers.values()) speaker.leave()
  return last
}

/** One participant's line to the gateway. `say` resolves when the gateway has taken or refused what was said. */
async function enter(where: { url: string; space: string; token: string }) {
  const waiting = new Map<string, (seq: number | undefined) => void>()
  const message = (frame: string): void => {
    const { id, seq, kind, correlationId } = JSON.parse(frame) as Envelope
    const about = kind === 'system.error' ? String(correlationId) : id
    waiting.get(about)?.(seq)
    waiting.delete(about)
  }
  const transport: Transport = await dialWs(where, { message, close: () => {} })
  return {
    say: (line: Line): Promise<number | undefined> =>
      new Promise((resolve) => {
        waiting.set(line.id, resolve)
        transport.send(JSON.stringify(line))
      }),
    leave: () => transport.close(1000, ''),
  }
}
