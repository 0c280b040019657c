import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { compileSubscription } from '../src/core/delivery/session.js'
import { byId, type Client, ofKind, range, type Sent, said, seqs } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const mcp = { kind: 'mcp.request', payload: { method: 'tools/list' } }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })
const thought = (context: string): Sent => ({
  kind: 'reasoning.thought',
  context,
  payload: { message: 'hm' },
})

/** Two runs, one with a nested context, and messages inside and outside of them. */
const story: Sent[] = [
  { id: 'main', ...chat('hello') },
  { id: 'run', kind: 'reasoning.start' },
  { id: 'hm', ...thought('run') },
  { id: 'guess', kind: 'reasoning.hypothesis', context: 'run' },
  { id: 'in', kind: 'reasoning.start', context: 'run' },
  { id: 'deep', ...thought('run/in') },
  { id: 'ask', ...mcp, context: 'run/in' },
  { id: 'in-end', kind: 'reasoning.conclusion', context: 'run/in' },
  { id: 'aside', ...chat('psst'), context: 'run' },
  { id: 'ack', kind: 'chat.acknowledge', correlationId: 'main' },
  { id: 'end', kind: 'reasoning.conclusion', context: 'run' },
  { id: 'run2', kind: 'reasoning.start' },
  { id: 'drop', kind: 'reasoning.cancel', context: 'run2' },
  { id: 'free', kind: 'x.y', context: 'elsewhere' },
  { id: 'loose', kind: 'x.y.z' },
]

async function notify(teller: Client): Promise<void> {
  for (const sent of story) await teller.accepted(sent)
}

/** A client's unread envelopes, up to a chat that is sent now outside of every context. */
async function upToMark(client: Client, by: Client) {
  const { id } = await by.accepted(chat('mark'))
  return (await client.until(byId(id))).slice(0, -1)
}

const hardest = {
  reasoning: 'none',
  contexts: ['nothing'],
  excludeContexts: ['**'],
  from: ['nobody'],
  kinds: ['nothing'],
}

const cases: [payload: Record<string, unknown>, cut: string[]][] = [
  [{}, []],
  [{ reasoning: 'full' }, []],
  [{ reasoning: 'boundaries' }, ['hm', 'guess', 'deep']],
  [{ reasoning: 'none' }, ['hm', 'guess', 'in', 'deep', 'in-end', 'end', 'drop']],
  [{ contexts: ['run'] }, ['drop', 'free']],
  [{ contexts: ['run/in'] }, ['hm', 'guess', 'in', 'aside', 'end', 'drop', 'free']],
  [{ contexts: ['run*'] }, ['free']],
  [{ contexts: ['run2', 'elsewhere'] }, ['hm', 'guess', 'in', 'deep', 'in-end', 'aside', 'end']],
  [{ excludeContexts: ['run'] }, ['hm', 'guess', 'in', 'deep', 'in-end', 'aside', 'end']],
  [{ excludeContexts: ['run/in'] }, ['deep', 'in-end']],
  [{ excludeContexts: ['*/in', 'elsewhere'] }, ['deep', 'in-end', 'free']],
  [{ contexts: ['run'], excludeContexts: ['run/in'] }, ['deep', 'in-end', 'drop', 'free']],
  [{ from: ['alice'] }, []],
  [{ from: ['!alice'] }, story.map(({ id }) => id ?? '').filter((id) => id !== 'main' && id !== 'ask')],
  [{ kinds: ['reasoning/*'] }, ['aside', 'ack', 'free', 'loose']],
  [{ kinds: ['x.**', 'chat'] }, ['run', 'hm', 'guess', 'in', 'deep', 'in-end', 'ack', 'end', 'run2', 'drop']],
  [{ kinds: ['!reasoning.thought'] }, ['hm', 'deep']],
  [
    { reasoning: 'none', contexts: ['elsewhere'] },
    ['hm', 'guess', 'in', 'deep', 'in-end', 'aside', 'end', 'drop'],
  ],
  [hardest, story.map(({ id }) => id ?? '').filter((id) => id !== 'main' && id !== 'ask')],
]

describe('a subscription', () => {
  test.for(cases)('%j cuts %j, and counts what it cuts', async ([payload, cut]) => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const welcome = await bob.subscribe(payload)
    expect(welcome.subscription).toEqual({ ...payload, suppressed: { envelopes: 0, bytes: 0 } })
    await notify(alice)
    const expected = story.map(({ id }) => id ?? '').filter((id) => !cut.includes(id))
    expect(said(await upToMark(bob, alice))).toEqual(expected)

    const bytes = alice.frames
      .filter(({ id }) => cut.includes(id))
      .map((frame) => Buffer.byteLength(alice.texts.get(frame) ?? '') - `"seq":${frame.seq},`.length)
    expect((await bob.subscribe({})).subscription).toEqual({
      suppressed: { envelopes: cut.length, bytes: bytes.reduce((sum, each) => sum + each, 0) },
    })
  })

  test.for(cases.slice(-3))('%j cuts %j of a replay that is under way', async ([payload, cut]) => {
    const { connect } = await start({ participants })
    const alice = await connect('alice')
    for (const count of range(1, 2000)) {
      alice.send({ id: `early${count}`, ...chat('x'.repeat(5000)) })
      if (count % 100 === 0) await alice.next(byId(`early${count}`))
    }
    await notify(alice)
    const bob = await connect('bob', { query: 'after=0' })
    await bob.subscribe(payload)
    const after = said(await upToMark(bob, alice))
    expect(after).toEqual(expect.arrayContaining(['early2000', 'main', 'ask']))
    expect(after.filter((id) => cut.includes(id))).toEqual([])
    expect((await bob.subscribe({})).subscription.suppressed.envelopes).toBe(cut.length)
  })

  test('says nothing of what its reader may not read', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await bob.subscribe({ reasoning: 'none' })
    await alice.accepted({ ...thought('c'), to: ['carol'] })
    await alice.accepted(thought('c'))
    const { subscription } = await bob.subscribe({})
    expect(subscription.suppressed.envelopes).toBe(1)
  })

  test('belongs to one connection, and a new one begins with everything', async () => {
    const { connect } = await start({ participants })
    const [alice, quiet, all] = [await connect('alice'), await connect('bob'), await connect('bob')]
    await quiet.subscribe({ reasoning: 'none' })
    const { id } = await alice.accepted(thought('c'))
    expect(said(await upToMark(quiet, alice))).toEqual([])
    expect(said(await upToMark(all, alice))).toContain(id)
    const later = await connect('bob')
    expect(later.welcome.subscription).toEqual({ suppressed: { envelopes: 0, bytes: 0 } })
    await alice.accepted({ id: 'next', ...thought('c') })
    expect(said(await upToMark(later, alice))).toEqual(['next'])
  })

  test('changes at once, in the midst of a run, and counts on', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await alice.accepted({ id: 'run', kind: 'reasoning.start' })
    const steps: [reasoning: string, seen: boolean][] = [
      ['none', false],
      ['full', true],
      ['boundaries', false],
      ['full', true],
    ]
    let cut = 0
    for (const [reasoning, seen] of steps) {
      const { subscription } = await bob.subscribe({ reasoning })
      expect(subscription.suppressed.envelopes).toBe(cut)
      const { id } = await alice.accepted(thought('run'))
      expect(said(await upToMark(bob, alice))).toEqual(seen ? [id] : [])
      if (!seen) cut++
    }
  })

  test('holds from its welcome on, whatever is on its way', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    for (const count of range(1, 3000)) alice.send({ id: `h${count}`, ...thought('c') })
    await bob.next(byId('h100'))
    await bob.subscribe({ reasoning: 'none' })
    for (const count of range(3001, 3010)) alice.send({ id: `h${count}`, ...thought('c') })
    expect((await upToMark(bob, alice)).filter(ofKind('reasoning.thought'))).toEqual([])
    const seen = bob.frames.filter(ofKind('reasoning.thought'))
    expect(seqs(seen)).toEqual(range(seen[0]?.seq ?? 0, seen.at(-1)?.seq ?? 0))
    const { suppressed } = (await bob.subscribe({})).subscription
    expect(suppressed.envelopes).toBeGreaterThanOrEqual(10)
    expect(seen.length + suppressed.envelopes).toBe(3010)
  })

  test('needs no capability, is not logged, and nobody else hears of it', async () => {
    const { connect } = await start({ participants: { ...participants, mute: [] } })
    const [alice, mute, again] = [await connect('alice'), await connect('mute'), await connect('mute')]
    const { seq } = await alice.accepted(chat('before'))
    await again.next(ofKind('chat'))
    await mute.subscribe({ from: ['alice'] })
    expect((await alice.accepted(chat('after'))).seq).toBe(seq + 1)
    expect((await again.until(ofKind('chat'))).map(({ kind }) => kind)).toEqual(['chat'])
  })
})

describe('no subscription cuts', () => {
  test('mcp, presence, participant.*, main chat, what is addressed to the reader, its own', async () => {
    const { connect, post } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await bob.subscribe(hardest)
    const context = 'run/x'
    const kept: Sent[] = [
      { id: 'a', ...mcp, context, to: ['alice'] },
      { id: 'b', kind: 'mcp.response', correlationId: 'a', context, payload: { result: {} } },
      { id: 'c', kind: 'mcp.proposal', context, payload: { method: 'x' } },
      { id: 'd', kind: 'mcp.reject', correlationId: 'c', context, payload: { reason: 'no' } },
      { id: 'e', kind: 'mcp.withdraw', correlationId: 'c', context, payload: { reason: 'no' } },
      { id: 'f', kind: 'participant.status', context },
      { id: 'g', ...chat('main') },
      { id: 'h', ...chat('for you'), to: ['bob'], context },
      { id: 'i', ...thought(context), to: ['carol', 'bob'] },
      { id: 'j', kind: 'x.y', to: ['bob'], context },
    ]
    for (const sent of kept) {
      if (sent.kind === 'mcp.reject') await post('carol', sent)
      else await alice.accepted(sent)
      await alice.accepted({ kind: 'x.y', context })
    }
    await connect('carol')
    await bob.accepted({ id: 'own', ...thought(context) })
    const heard = bob.frames
      .filter(({ seq }) => seq !== undefined)
      .map(({ id, kind }) => (kind === 'system.presence' ? kind : id))
    expect(heard).toEqual(['system.presence', ...kept.map(({ id }) => id), 'system.presence', 'own'])
  })

  test('what is addressed to a reader of everything either', async () => {
    const { connect } = await start({ participants: { ...participants, auditor: ['observe.targeted'] } })
    const [alice, auditor] = [await connect('alice'), await connect('auditor')]
    await auditor.subscribe(hardest)
    await alice.accepted({ id: 'a', ...thought('c'), to: ['bob'] })
    await alice.accepted({ id: 'b', ...thought('c'), to: ['bob', 'auditor'] })
    await alice.accepted({ id: 'c', ...thought('c') })
    expect(said(await upToMark(auditor, alice))).toEqual(['b'])
    expect((await auditor.subscribe({})).subscription.suppressed.envelopes).toBe(2)
  })

  verifies('M19', 'an mcp.request in any context reaches its addressee, however it filters', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await bob.subscribe(hardest)
    for (const count of range(1, 50)) await alice.accepted(thought(`a/b${count}`))
    await alice.accepted({ id: 'ask', ...mcp, context: 'a/b/c', to: ['bob'] })
    await alice.accepted({
      id: 'plan',
      kind: 'mcp.proposal',
      context: 'a/b/c',
      to: ['bob'],
      payload: { method: 'x' },
    })
    expect(said(await bob.until(byId('plan')))).toEqual(['ask', 'plan'])
    const answer = { kind: 'mcp.response', correlationId: 'ask', context: 'a/b/c', payload: { result: {} } }
    const { id } = await bob.accepted(answer)
    await alice.subscribe(hardest)
    expect(alice.frames.some(byId(id))).toBe(true)
  })
})

describe('a pattern that takes too long', () => {
  const slow = ['re:(.?a?.?){60}x', `${'*a?'.repeat(150)}y`, 're:.*']
  const entry = (context: string) => ({
    ...{ seq: 1, id: 'i', ts: '', from: 'ana', kind: 'reasoning.thought', body: Buffer.alloc(0) },
    context,
  })
  const [short, long] = ['a', ['ab', 'ba', 'aa', 'bb', 'ab'].map((each) => each.repeat(25)).join('/')]

  test('matches nothing, and those behind it neither', () => {
    expect(compileSubscription({ contexts: slow }).passes(entry(short))).toBe(true)
    expect(compileSubscription({ contexts: slow }).passes(entry(long))).toBe(false)
    expect(compileSubscription({ excludeContexts: slow }).passes(entry(short))).toBe(false)
    expect(compileSubscription({ excludeContexts: slow }).passes(entry(long))).toBe(true)
  })

  test('takes nothing from the next envelope', () => {
    const subscription = compileSubscription({ contexts: slow })
    subscription.passes(entry(long))
    expect(subscription.passes(entry(short))).toBe(true)
  })
})
