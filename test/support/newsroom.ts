import type { Capability } from '@meup/protocol'
import { answer, call, proposal, type Step, says, text } from './story-lines.js'

/**
 * Participants with their capabilities. `desk` is a tool that is itself an agent; `intern` may not call tools, only propose.
 */
export const newsroomCast: Readonly<Record<string, readonly Capability[]>> = {
  ana: ['*'],
  writer: ['chat', 'reasoning.*', 'mcp.*'],
  critic: ['chat', 'reasoning.*', 'mcp.*'],
  intern: ['chat', 'reasoning.*', 'mcp.proposal', 'mcp.withdraw'],
  desk: ['reasoning.*', 'mcp.request', 'mcp.response'],
  files: ['mcp.response'],
  reader: ['chat', 'observe.targeted'],
}

const twoRuns: readonly Step[] = [
  ['ana', says('c1', 'chat', 'Are the changelog and the manual right?', { to: ['writer'] })],
  ['writer', says('r1', 'reasoning.start', 'The changelog first.', { correlationId: 'c1' })],
  [
    'writer',
    call('q1', 'r1', 'read', { path: 'changelog' }, { rationale: 'it names the version', parallelGroup: 0 }),
  ],
  ['files', answer('a1', 'q1', text('version 2.0'), 'writer')],
  ['writer', says('r1e', 'reasoning.conclusion', 'The changelog is right.', { context: 'r1' })],
  ['writer', says('r2', 'reasoning.start', 'Now the manual.', { correlationId: 'c1' })],
  ['writer', call('q2', 'r2', 'read', { path: 'manual' }, { rationale: 'it has to name the same' })],
  ['files', answer('a2', 'q2', text('for version 1.9'), 'writer')],
  ['writer', says('r2e', 'reasoning.conclusion', 'The manual is a version behind.', { context: 'r2' })],
  ['writer', says('m1', 'chat', 'The changelog is, the manual is not.', { correlationId: 'c1' })],
]

/** A withdrawn proposal, and an undecided one; in between, an agent calls another agent as a tool. */
const waiting: readonly Step[] = [
  ['ana', says('c2', 'chat', 'Tidy the drafts.', { to: ['intern'] })],
  ['intern', says('r3', 'reasoning.start', 'Two of them are old.', { correlationId: 'c2' })],
  ['intern', proposal('p1', 'r3', 'nobody opens it', 'delete', { draft: 'a' })],
  [
    'intern',
    {
      id: 'w1',
      kind: 'mcp.withdraw',
      correlationId: 'p1',
      payload: { reason: 'mistaken', message: 'It was opened today.' },
    },
  ],
  [
    'intern',
    {
      ...proposal('p2', 'r3', 'it is empty', 'delete', { draft: 'b' }),
      payload: {
        method: 'tools/call',
        params: { name: 'delete', arguments: { draft: 'b' } },
        expiresAt: '2026-01-01T00:00:18Z',
      },
    },
  ],
  ['ana', says('c3', 'chat', 'Who is quoted on page 2?', { to: ['writer'] })],
  ['writer', says('r4', 'reasoning.start', 'The desk knows.', { correlationId: 'c3' })],
  [
    'writer',
    call('q3', 'r4', 'find_quote', { page: 2 }, { to: ['desk'], rationale: 'it has read the archive' }),
  ],
  ['desk', says('r5', 'reasoning.start', 'I look for her letters.', { correlationId: 'q3' })],
  ['desk', call('q4', 'r5', 'search', { for: 'letters' }, { rationale: 'they are dated' })],
  ['files', answer('a4', 'q4', text('2 letters of 1843'), 'desk')],
  ['desk', says('r5e', 'reasoning.conclusion', 'Both are from 1843.', { context: 'r5' })],
  ['desk', answer('a3', 'q3', text('Ada, in a letter of 1843'), 'writer')],
  ['writer', call('q5', 'r4', 'spell', { word: 'Ada' }, { rationale: 'names are easily misspelt' })],
  ['writer', says('r4e', 'reasoning.conclusion', 'It is a letter.', { context: 'r4' })],
  ['writer', says('m3', 'chat', 'Ada is, from a letter.', { correlationId: 'c3' })],
  ['intern', says('r3e', 'reasoning.conclusion', 'Nobody had the time.', { context: 'r3' })],
  ['intern', says('m2', 'chat', 'They are all still there.', { correlationId: 'c2' })],
]

const stopped: readonly Step[] = [
  ['ana', says('c4', 'chat', 'Rewrite page 3.', { to: ['writer'] })],
  ['writer', says('r6', 'reasoning.start', 'It is too long.', { correlationId: 'c4' })],
  ['writer', says('t6', 'reasoning.thought', '1. Read it\n2. Halve it', { context: 'r6' })],
  ['ana', { id: 'x6', kind: 'reasoning.cancel', context: 'r6', payload: { reason: 'the page is dropped' } }],
  ['writer', { id: 'r6x', kind: 'reasoning.cancel', context: 'r6', payload: { reason: 'ana stopped me' } }],
]

const rich = (id: string, kind: string, payload: object, context = 'launch'): Step[1] => ({
  id,
  kind: `reasoning.${kind}`,
  context,
  payload,
})

/** Two agents that think in one free path: a context that no `reasoning.start` has opened. */
const together: readonly Step[] = [
  ['writer', rich('l1', 'question', { questions: ['Is it ready?', 'Who tells the readers?'] })],
  [
    'critic',
    rich('l2', 'hypothesis', { hypothesis: 'The index is too slow', confidence: 0.8, evidence: ['mails'] }),
  ],
  ['critic', call('q6', 'launch/index', 'measure', { page: 'index' }, { rationale: 'a number decides' })],
  ['files', answer('a6', 'q6', text('3.2 s'), 'critic')],
  ['critic', rich('l3', 'evidence', { content: 'It takes 3.2 s', severity: 'high' })],
  ['writer', rich('l4', 'recommendation', { recommendation: 'Launch without the index', confidence: 0.9 })],
  ['critic', rich('l5', 'conclusion', { message: 'Then I agree.' })],
  ['writer', rich('l6', 'conclusion', { message: 'We launch without it.' })],
]

/** A question whose agent leaves, and does not come back. */
const left: readonly Step[] = [
  ['ana', says('c7', 'chat', 'Is the index faster now?', { to: ['critic'] })],
  ['critic', says('r7', 'reasoning.start', 'I measure it again.', { correlationId: 'c7' })],
]

export const newsroom: readonly Step[] = [...twoRuns, ...waiting, ...stopped, ...together, ...left]
