import { createHash } from 'node:crypto'
import { HttpClient } from '@meup/agent-sdk/http'
import { createTestGateway, fetchInMemory, testToken } from '@meup/gateway/testing'
import { type AnyEnvelope, verifyExport } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { exportEvidence } from '../src/why/evidence.js'
import { explainAct } from '../src/why/explanation.js'
import { whyLines } from '../src/why/explanation-lines.js'
import { findActs } from '../src/why/find-acts.js'
import { useBerlinTime } from './support/berlin.js'
import { refused } from './support/refused.js'

useBerlinTime()

interface Sent {
  readonly from: string
  readonly id: string
  readonly kind: string
  readonly payload: object
}

const participants = {
  ana: ['*'],
  janitor: ['chat', 'reasoning.*', 'mcp.proposal', { tool: 'desk/*' }, { tool: 'files/read_*' }],
  files: ['*'],
  desk: ['*'],
}

const chat = (from: string, id: string, message: string, more: object = {}): Sent => ({
  ...{ from, id, kind: 'chat', payload: { message } },
  ...more,
})
const call = (id: string, to: string, name: string, args: object, more: object = {}): Sent => ({
  ...{ from: 'janitor', id, kind: 'mcp.request', to: [to], context: 'run-of-janitor' },
  payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
  ...more,
})
const result = (from: string, id: string, correlationId: string, text: string): Sent => ({
  ...{ from, id, kind: 'mcp.response', correlationId },
  payload: { jsonrpc: '2.0', id: correlationId, result: { content: [{ type: 'text', text }] } },
})

const story: readonly Sent[] = [
  chat('ana', 'ask-janitor', 'Delete the old log'),
  {
    ...{ from: 'janitor', id: 'run-of-janitor', kind: 'reasoning.start', correlationId: 'ask-janitor' },
    payload: { metadata: { model: 'fake-2' } },
  } as Sent,
  call('read-report', 'files', 'read_text_file', { path: 'report.txt' }, { rationale: 'the report decides' }),
  result('files', 'report', 'read-report', 'ok 1 signs in'),
  {
    ...{ from: 'janitor', id: 'unused', kind: 'reasoning.thought', context: 'run-of-janitor' },
    payload: { message: 'The report does not mention old.log, so it is unused.' },
  } as Sent,
  call('delete-old', 'desk', 'delete_file', { path: 'old.log' }, { rationale: 'nobody uses old.log' }),
  result('desk', 'deleted', 'delete-old', 'done'),
  {
    ...{ from: 'janitor', id: 'end', kind: 'reasoning.conclusion', context: 'run-of-janitor' },
    payload: { metadata: { tokens: { input: 11_000, output: 759 }, transcript: 'f9faf9fc'.repeat(8) } },
  } as Sent,
  chat('janitor', 'done', 'I deleted old.log.', { correlationId: 'ask-janitor' }),
]

async function open(more: readonly Sent[] = []) {
  const gateway = await createTestGateway({ participants })
  onTestFinished(() => gateway.close())
  const fetch = fetchInMemory(gateway)
  const target = { url: 'http://memory', space: 'test', fetch }
  const seqs = new Map<string, number>()
  for (const { from, ...envelope } of [...story, ...more]) {
    const http = new HttpClient({ ...target, token: testToken(from) })
    const receipts = await http.postJson<{ seq: number }[]>('envelopes', envelope).catch(() => [])
    if (receipts[0] !== undefined) seqs.set(envelope.id, receipts[0].seq)
  }
  const http = new HttpClient({ ...target, token: testToken('ana') })
  // The gateway logs its decisions about refused envelopes asynchronously.
  await vi.waitFor(async () => {
    const { envelopes } = await http.readLogPage({ kind: 'system.decision' })
    expect(envelopes).toHaveLength([...story, ...more].length - seqs.size)
  })
  const find = async (ref: string, options = {}) =>
    (await findActs(http, ref, options)).map(({ id }: AnyEnvelope) => id)
  const lines = async (ref: string) => {
    const [act] = await findActs(http, ref)
    if (act === undefined) throw new Error('it was found')
    return whyLines(await explainAct(http, act), { findLine: () => 22 })
  }
  return { http, seqs, find, lines }
}

describe('an act is found', () => {
  test('by its place in the log, its id, and the beginning of that', async () => {
    const { find, seqs } = await open()
    for (const ref of ['delete-old', 'delete-o', `#${seqs.get('delete-old')}`])
      expect(await find(ref)).toEqual(['delete-old'])
    // Chat messages can be explained, too, not only calls.
    expect(await find('ask-janitor')).toEqual(['ask-janitor'])
  })

  test('by a turn: its answer, or the last that was done in it', async () => {
    const { find } = await open([
      chat('ana', 'ask-again', 'And the other one?'),
      {
        ...{ from: 'janitor', id: 'run-again', kind: 'reasoning.start', correlationId: 'ask-again' },
        payload: {},
      } as Sent,
      {
        ...{ from: 'janitor', id: 'hm', kind: 'reasoning.thought', context: 'run-again' },
        payload: { message: 'hm' },
      } as Sent,
    ])
    for (const ref of ['1', 'turn 1', 'janitor turn 1', '@janitor turn 1'])
      expect(await find(ref)).toEqual(['done'])
    expect(await find('1', { thread: 'files' })).toEqual(['report'])
    expect(await find('2')).toEqual(['hm'])
    await expect(find('7')).rejects.toThrow(refused('unknown_turn', { number: '7' }))
  })

  test('by words: the answers, calls and refusals that say all of them, the newest first', async () => {
    const { find } = await open([
      call('forbidden', 'files', 'delete_file', { path: 'old.log' }, { rationale: 'again' }),
      chat('ana', 'why', 'Why did you delete old.log?'),
    ])
    const [refusal, ...others] = await find('old.log')
    expect(others).toEqual(['done', 'delete-old'])
    expect(await find('OLD deleted')).toEqual(['done'])
    expect(await find('delete_file again')).toEqual([refusal])
    // `dele` is searched as a word: as an id prefix it would be too short.
    expect(await find('dele')).toEqual([refusal, 'done', 'delete-old'])
    expect(await find('run')).toContain('delete-old')
    for (const words of ['" OR *', '日本', 'é', 'zz'])
      await expect(find(words)).rejects.toThrow(`no act says ${words}`)
  })

  test('by a tool with its owner: calls and refusals of it, the newest first', async () => {
    const { find } = await open([
      call('forbidden', 'files', 'delete_file', { path: 'new.log' }, { rationale: 'again' }),
      call('forbidden-too', 'files', 'write_text_file', { path: 'new.log' }),
      call('read-later', 'files', 'read_text_file', { path: 'new.log' }),
      chat('janitor', 'path', 'I looked into desk/notes.', { correlationId: 'ask-janitor' }),
    ])
    expect(await find('files/read_text_file')).toEqual(['read-later', 'read-report'])
    expect(await find('files/read_text_file report.txt')).toEqual(['read-report'])
    const [refusal, ...others] = await find('files/delete_file')
    expect([refusal, others]).toEqual([expect.any(String), []])
    // The log does not say whose tool a refused call was for.
    expect(await find('desk/delete_file')).toEqual([refusal, 'delete-old'])
    // Not a tool, but a path.
    expect(await find('desk/notes')).toEqual(['path'])
  })

  test('as the last one', async () => {
    const { find } = await open()
    expect(await find('')).toEqual(['done'])
  })

  test('among at most nine', async () => {
    const { find } = await open(
      Array.from({ length: 20 }, (_, at) => call(`more-${at}`, 'desk', 'delete_file', { path: 'x.log' })),
    )
    expect(await find('x.log')).toEqual(Array.from({ length: 9 }, (_, at) => `more-${19 - at}`))
  })
})

describe('an explanation', () => {
  test('of a call has who asked, the thought, what was looked at, the reason, the right, the model, the proof', async () => {
    const { lines, seqs, http } = await open()
    const { proof } = await http.why('delete-old')
    const at = (id: string) => `#${seqs.get(id)}`
    expect(await lines('delete-old')).toEqual([
      expect.stringMatching(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00 {2}janitor calls desk\/delete_file \{"path":"old\.log"\} {2}#\d+$/,
      ),
      `  asked by    ana: Delete the old log  ${at('ask-janitor')}`,
      `  thought     The report does not mention old.log, so it is unused.  ${at('unused')}`,
      `  looked at   files/read_text_file {"path":"report.txt"} → ok 1 signs in  ${at('report')}`,
      '  reason      nobody uses old.log',
      '  allowed     by space.yaml:22: desk/*; nobody was asked',
      '  model       fake-2, 11,759 tokens in its run · meup transcript show f9faf9fcf9fa',
      expect.stringMatching(/^ {2}look first {2}#\d+, #\d+, #\d+ · janitor calls read_text_file /),
      `  outside     text from outside the space: ${at('report')}`,
      `  proof       ${proof.seq}:${proof.hash} · log up to ${proof.head}`,
    ])
  })

  test('of an answer, and of a result, has the right of the calls', async () => {
    const { lines, seqs } = await open()
    const all = await lines('done')
    expect(all).toContain(
      `  allowed     by space.yaml:22: files/read_*; nobody was asked  #${seqs.get('report')}`,
    )
    expect(all).toContain(`  allowed     by space.yaml:22: desk/*; nobody was asked  #${seqs.get('deleted')}`)
    expect(await lines('deleted')).toContain('  allowed     by space.yaml:22: desk/*; nobody was asked')
  })

  test('of a refusal has what was lacking and the reason of the call', async () => {
    const { lines, find } = await open([
      call('forbidden', 'files', 'delete_file', { path: 'old.log' }, { rationale: 'again' }),
    ])
    const [refusal = ''] = await find('')
    const all = await lines(refusal)
    expect(all[0]).toMatch(/ {2}janitor was refused: mcp\.request delete_file denied/)
    expect(all).toContainEqual(expect.stringMatching(/^ {2}asked by {4}ana: Delete the old log/))
    expect(all).toContain('  reason      again')
    expect(all).toContainEqual(
      expect.stringMatching(
        /^ {2}lacks {7}\{"tool":"files\/delete_file"\} · \/allow \d+ in meup join grants it$/,
      ),
    )
  })

  test('has a proposal, then why it was rejected, and not that its proposer takes it back', async () => {
    const propose = (id: string): Sent =>
      ({
        ...{ from: 'janitor', id, kind: 'mcp.proposal', to: ['files'], context: 'run-of-janitor' },
        payload: { method: 'tools/call', params: { name: 'move_file', arguments: { path: id } } },
      }) as Sent
    const end = (from: string, kind: string, correlationId: string, payload: object): Sent =>
      ({
        from,
        id: `${kind}-${from}-${correlationId}`.replace('.', '-'),
        kind,
        correlationId,
        payload,
      }) as Sent
    const { lines } = await open([
      ...[propose('first'), propose('second')],
      end('ana', 'mcp.reject', 'first', { reason: 'disagree', message: 'not today' }),
      end('desk', 'mcp.reject', 'first', { reason: 'disagree', message: 'not mine' }),
      end('janitor', 'mcp.withdraw', 'first', { reason: 'rejected' }),
      end('janitor', 'mcp.withdraw', 'second', { reason: 'no_longer_needed' }),
      {
        ...{ from: 'janitor', id: 'answer', kind: 'chat', correlationId: 'ask-janitor' },
        payload: { message: 'I could not.' },
      } as Sent,
    ])
    const all = await lines('answer')
    const rows = all.flatMap(
      (line) => /^ {2}(proposed|rejected) +(.*?) {2}#\d+$/.exec(line)?.slice(1, 3) ?? [],
    )
    expect(rows).toEqual([
      ...['proposed', expect.stringMatching(/^janitor: move_file .*first/)],
      ...['proposed', expect.stringMatching(/^janitor: move_file .*second/)],
      ...['rejected', expect.stringMatching(/^desk: .*not mine/)],
      ...['rejected', expect.stringMatching(/^janitor: .*withdrawn/)],
    ])
  })

  test('names who granted or approved what was called', async () => {
    const propose = {
      ...{ from: 'janitor', id: 'proposal', kind: 'mcp.proposal', to: ['files'], context: 'run-of-janitor' },
      payload: { method: 'tools/call', params: { name: 'move_file', arguments: { path: 'b.log' } } },
    } as Sent
    const { lines } = await open([
      {
        ...{ from: 'ana', id: 'grant-1', kind: 'capability.grant' },
        payload: { recipient: 'janitor', capabilities: [{ tool: 'files/delete_*' }], reason: 'this once' },
      },
      call('granted', 'files', 'delete_file', { path: 'a.log' }),
      propose,
      {
        ...{ from: 'ana', id: 'approval', kind: 'mcp.request', correlationId: 'proposal', payload: {} },
        ...{ rationale: 'I looked at it' },
      } as Sent,
    ])
    expect(await lines('granted')).toContain(
      "  allowed     by ana's grant grant-1 (this once): files/delete_*",
    )
    const approved = await lines('approval')
    expect(approved).toContainEqual(expect.stringMatching(/^ {2}proposed {4}janitor: move_file/))
    expect(approved).toContain('  allowed     by ana, who may by space.yaml:22: *')
  })
})

describe('the evidence for an explanation', () => {
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
  const read = async (pieces: AsyncIterable<Uint8Array>) => {
    const all: Uint8Array[] = []
    for await (const piece of pieces) all.push(piece)
    return Buffer.concat(all)
  }

  test('has the envelopes that it names, and is whole without a gateway', async () => {
    const { http } = await open([chat('ana', 'other', 'Something else')])
    const explanation = await explainAct(http, await http.readEnvelope('delete-old'))
    const bytes = await read(exportEvidence(http, explanation))
    const { steps } = explanation.why
    const { head } = await http.verifyLog()
    expect(await verifyExport([bytes], sha256)).toMatchObject({
      ...{ ok: true, first: steps[0]?.seq, head, shown: steps.length },
    })
    const text = bytes.toString()
    expect(text).toContain('nobody uses old.log')
    expect(text).not.toContain('Something else')
    const changed = Buffer.from(text.replace('nobody uses', 'all of us use'))
    expect(await verifyExport([changed], sha256)).toMatchObject({ ok: false })
  })
})
