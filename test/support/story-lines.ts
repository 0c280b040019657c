import type { Capability } from '@meup/protocol'

/** Participants with their capabilities. `apprentice` may not call tools, only propose. */
export const cast: Readonly<Record<string, readonly Capability[]>> = {
  ana: ['*'],
  security: ['chat', 'reasoning.*', 'mcp.*'],
  apprentice: ['chat', 'reasoning.*', 'mcp.proposal', 'mcp.withdraw'],
  files: ['mcp.response'],
  // May read everything, including envelopes to others.
  reader: ['chat', 'observe.targeted'],
  // May read only envelopes to everyone; nothing is addressed to it.
  passerby: ['chat'],
}

export type StoryLine = { readonly id: string; readonly kind: string } & Record<string, unknown>
export type Step = readonly [from: string, line: StoryLine]

export const call = (
  id: string,
  context: string,
  name: string,
  args: object,
  more: object = {},
): StoryLine => ({
  id,
  kind: 'mcp.request',
  to: ['files'],
  context,
  payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
  ...more,
})
export const answer = (id: string, correlationId: string, result: object, asker = 'security'): StoryLine => ({
  id,
  kind: 'mcp.response',
  to: [asker],
  correlationId,
  payload: { jsonrpc: '2.0', id: correlationId, ...result },
})
export const text = (said: string, more: object = {}): object => ({
  result: { content: [{ type: 'text', text: said }], ...more },
})
export const says = (id: string, kind: string, message: string, more: object = {}): StoryLine => ({
  id,
  kind,
  payload: { message },
  ...more,
})
/** A question to an agent that everyone can read. */
const asks = (id: string, message: string, agent: string): StoryLine =>
  says(id, 'chat', message, { payload: { message, mentions: [agent] } })

/** A private key in several strings, so that scanners do not find a key in this file. */
const key = [
  '-----BEGIN PRIVATE',
  'KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE',
  'KEY-----',
].join(' ')

export const proposal = (
  id: string,
  context: string,
  rationale: string,
  name: string,
  args: object,
): StoryLine => ({
  id,
  kind: 'mcp.proposal',
  to: ['files'],
  context,
  rationale,
  payload: { method: 'tools/call', params: { name, arguments: args } },
})
const toggle = (id: string, context: string, reasoningVisible: boolean): StoryLine => ({
  id,
  kind: 'observe.visibility',
  payload: { context, reasoningVisible },
})

/**
 * The first turns: parallel calls with responses in another order, nested contexts, a failed tool, a missing and a withheld
 * rationale, a rejected proposal, a call that the gateway denies, a turn without tools, and a job.
 */
const beginning: readonly Step[] = [
  ['ana', asks('c1', 'Should we deploy the auth change?', 'security')],
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
  ['ana', asks('c2', 'Clean up the old reports.', 'apprentice')],
  ['apprentice', says('r2', 'reasoning.start', 'I must ask before I delete.', { correlationId: 'c2' })],
  [
    'apprentice',
    proposal('p1', 'r2', 'they are older than a month', 'delete_reports', { before: '2026-01-01' }),
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
  ['ana', asks('c3', 'Thank you.', 'security')],
  ['security', says('m3', 'chat', 'You are welcome.', { correlationId: 'c3' })],
  ['security', says('j1', 'reasoning.start', 'Nightly check.')],
  ['security', call('q6', 'j1', 'list_reports', {}, { rationale: 'to see what is new' })],
  ['files', answer('a6', 'q6', text('tests.xml\nload.csv'))],
  ['security', says('j1e', 'reasoning.conclusion', 'Nothing new.', { context: 'j1' })],
]

/** Batches of three, one and two calls. One of the thoughts is hidden until the run is shown again. */
const batches: readonly Step[] = [
  ['ana', asks('c4', 'Compare all reports.', 'security')],
  ['security', says('r3', 'reasoning.start', 'I read all of them.', { correlationId: 'c4' })],
  ...['q7', 'q8', 'q9'].map(
    (id, at): Step => [
      'security',
      call(
        id,
        'r3',
        'read_report',
        { number: at },
        { parallelGroup: 0, rationale: `report ${at} is asked for` },
      ),
    ],
  ),
  ['files', answer('a9', 'q9', { result: { contents: [{ uri: 'file:///2', text: 'Größe' }] } })],
  ['files', answer('a7', 'q7', { result: { structuredContent: { failures: ['a', 'b'] }, content: [] } })],
  ['files', answer('a8', 'q8', { error: { code: -32000, message: 'report 1 is locked' } })],
  ['security', toggle('v1', 'r3', false)],
  ['security', says('t3', 'reasoning.thought', 'Somebody has locked it.', { context: 'r3' })],
  ['security', toggle('v2', 'r3', true)],
  ['security', call('q10', 'r3', 'who_locks', { number: 1 }, { rationale: 'the lock has an owner' })],
  ['files', answer('a10', 'q10', text('ana'))],
  ...['q11', 'q12'].map(
    (id, at): Step => [
      'security',
      call(id, 'r3', 'read_part', { part: at }, { parallelGroup: 1, rationale: `part ${at} is not locked` }),
    ],
  ),
  ['files', answer('a11', 'q11', text('first'))],
  ['files', answer('a12', 'q12', text('second'))],
  ['security', says('r3e', 'reasoning.conclusion', 'They agree.', { context: 'r3' })],
  ['security', says('m4', 'chat', 'They agree, but for one that you lock.', { correlationId: 'c4' })],
]

/** A private turn in which a proposal is approved, and one that is cancelled while a tool runs. */
const aside: readonly Step[] = [
  ['ana', says('c5', 'chat', 'Between us: is the load fine?', { to: ['apprentice'] })],
  ['apprentice', says('r4', 'reasoning.start', 'I ask for it.', { to: ['ana'], correlationId: 'c5' })],
  ['apprentice', says('t4', 'reasoning.thought', 'She may read it.', { to: ['ana'], context: 'r4' })],
  ['apprentice', proposal('p2', 'r4', 'it has the load', 'read_report', { path: 'load.csv' })],
  [
    'ana',
    {
      id: 'f2',
      kind: 'mcp.request',
      to: ['files'],
      correlationId: 'p2',
      payload: {
        jsonrpc: '2.0',
        id: 'f2',
        method: 'tools/call',
        params: { name: 'read_report', arguments: { path: 'load.csv' } },
      },
    },
  ],
  ['files', answer('a13', 'f2', text('p99 412 ms'), 'ana')],
  ['apprentice', says('r4e', 'reasoning.conclusion', 'It is not.', { to: ['ana'], context: 'r4' })],
  ['apprentice', says('m5', 'chat', 'No, it is not.', { to: ['ana'], correlationId: 'c5' })],
  ['ana', asks('c6', 'Write the report anew.', 'security')],
  ['security', says('r5', 'reasoning.start', 'From the beginning.', { correlationId: 'c6' })],
  ['security', call('q13', 'r5', 'write_report', { path: 'new.md' }, { rationale: 'it is asked for' })],
  [
    'security',
    { id: 'r5x', kind: 'reasoning.cancel', context: 'r5', payload: { reason: 'the disk is full' } },
  ],
]

/** A hidden run that does not end: its thoughts explain why a tool is called. */
const hidden: readonly Step[] = [
  ['ana', asks('c7', 'What do we pay?', 'security')],
  ['security', says('r6', 'reasoning.start', 'I look it up.', { correlationId: 'c7' })],
  ['security', toggle('v3', 'r6', false)],
  ['security', says('t5', 'reasoning.thought', 'It is in the salaries.', { context: 'r6' })],
  ['security', call('q14', 'r6', 'read_table', { table: 'pay' }, { rationale: 'the sum is asked for' })],
  ['files', answer('a14', 'q14', text('41'))],
  ['security', says('n6', 'reasoning.start', 'Is that all?', { context: 'r6' })],
  ['security', says('t6', 'reasoning.thought', 'Nobody else is paid.', { context: 'r6/n6' })],
  ['security', says('n6e', 'reasoning.conclusion', 'It is.', { context: 'r6/n6' })],
]

/** Ids of thoughts of a hidden run that is shown again; other readers get them late. */
export const shownLater: readonly string[] = ['t3']

/** The end of the hidden run, some time later. */
export const ending: readonly Step[] = [
  ['security', says('r6e', 'reasoning.conclusion', 'It is little.', { context: 'r6' })],
  ['security', says('m7', 'chat', 'We pay 41.', { to: ['ana'], correlationId: 'c7' })],
]

export const story: readonly Step[] = [...beginning, ...batches, ...aside, ...hidden]
