import { memoryStore } from '@meup/gateway'
import { defaultRates, type Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, errorFor, ofKind, range, seqs } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { asking } from './http-client.js'
import { begin, chat, conclude, metric, onlookers, show, thought, thoughts } from './visibility.js'

const nobody = [[], [], [], []]
const everybody = (...ids: string[]) => [ids, ids, ids, ids]

describe('while a run is hidden', () => {
  verifies(
    ['O09', 'O11', 'O12'],
    'its thoughts are sent to nobody else, and in the same run to everybody once it is shown',
    async () => {
      const { by, thoughtsSeen, url } = await onlookers()
      await by.accepted(thought('seen'))
      expect(await thoughtsSeen('seen')).toEqual(everybody('seen'))

      await by.accepted(show('run', false))
      for (const id of ['a', 'b', 'c']) await by.accepted(thought(id))
      await by.accepted({ kind: 'reasoning.hypothesis', context: 'run' })
      await by.accepted(chat('mark'))
      expect(await thoughtsSeen('mark')).toEqual(nobody)
      expect(await metric(url, 'meup_reasoning_suppressed_total')).toBe(4)

      await by.accepted(show('run', true))
      await by.accepted(thought('again'))
      expect(await thoughtsSeen('again')).toEqual(everybody('again'))
      expect(await metric(url, 'meup_reasoning_suppressed_total')).toBe(4)
    },
  )

  verifies('O11', 'all else goes on: starts, ends, tools and chat', async () => {
    const { by, ben, connect, seen } = await onlookers()
    const tool = await connect('tool')
    await by.accepted(show('run', false))
    const request = { kind: 'mcp.request', to: ['tool'], payload: { method: 'tools/call', params: {} } }
    await by.accepted({ id: 'ask', context: 'run', ...request, rationale: 'to know' })
    await tool.accepted({
      kind: 'mcp.response',
      correlationId: 'ask',
      context: 'run',
      payload: { result: {} },
    })
    await by.accepted(begin('in', 'run'))
    await by.accepted(thought('deep', 'run/in'))
    await by.accepted({ kind: 'reasoning.cancel', context: 'run/in', payload: { reason: 'enough' } })
    await ben.accepted({ ...chat('aside'), context: 'run' })
    await by.accepted(conclude())
    await by.accepted(chat('answer'))
    const all = await seen('answer')
    for (const frames of [all[0], all[2], all[3]]) {
      expect(frames?.filter(({ from }) => from !== 'system:gateway').map(({ kind }) => kind)).toEqual([
        'reasoning.start',
        'observe.visibility',
        'mcp.request',
        'mcp.response',
        'reasoning.start',
        'reasoning.cancel',
        'chat',
        'reasoning.conclusion',
        'chat',
      ])
    }
    const ends = all[0]?.filter(({ kind }) => /start|conclusion|cancel/.test(kind)) ?? []
    expect(ends.map(({ payload }) => payload)).toEqual([
      { message: 'start of run' },
      { message: 'start of in' },
      { reason: 'enough' },
      { message: 'so it is' },
    ])
  })

  verifies('O08', 'and its thoughts come among all else that it sends, each at its seq', async () => {
    const { by, ben } = await onlookers()
    await by.accepted(thought('first'))
    await by.accepted({ kind: 'mcp.request', context: 'run', payload: { method: 'x' } })
    await by.accepted(thought('second'))
    await by.accepted(conclude('run', 'end'))
    const frames = (await ben.until(byId('end'))).filter(({ from }) => from === 'agent')
    expect(frames.map(({ kind }) => kind.replace(/.*\./, ''))).toEqual([
      'start',
      'thought',
      'request',
      'thought',
      'conclusion',
    ])
    const [{ seq: begun = 0 } = {}] = frames
    expect(seqs(frames)).toEqual(range(begun, begun + 4))
    expect(frames[3]).toMatchObject({ context: 'run', payload: { message: 'thought second' } })
  })

  test('a thought is echoed on every connection of its sender, also of one who thinks along', async () => {
    const { by, ana, connect, thoughtsSeen } = await onlookers()
    const [second, helper] = [await connect('agent'), await connect('helper')]
    await ana.accepted(show('run', false))
    await by.accepted(thought('own'))
    await helper.accepted(thought('along', 'run', { to: ['ana', 'agent'] }))
    await by.accepted(chat('mark'))
    expect(thoughts(await second.until(byId('mark')))).toEqual(['own'])
    expect(thoughts(by.frames)).toEqual(['own'])
    expect(thoughts(await helper.until(byId('mark')))).toEqual([])
    expect(thoughts(helper.frames)).toEqual(['along'])
    expect(await thoughtsSeen('mark')).toEqual(nobody)
  })

  test('so are its nested contexts, old, new and free ones, and no other run', async () => {
    const { by, thoughtsSeen } = await onlookers()
    await by.accepted(begin('old', 'run'))
    await by.accepted(begin('other'))
    await by.accepted(begin('runner'))
    await by.accepted(show('run', false))
    await by.accepted(begin('new', 'run/old'))
    for (const context of ['run', 'run/old', 'run/old/new', 'run/free', 'other', 'runner', 'free']) {
      await by.accepted(thought(`in-${context.replaceAll('/', '-')}`, context))
    }
    expect(await thoughtsSeen('in-free')).toEqual(everybody('in-other', 'in-runner', 'in-free'))
  })

  verifies(['O07', 'O19'], 'everybody is told so, before anything is held back', async () => {
    const { by, ana, ben, auditor, seen, url } = await onlookers()
    const hidden = { context: 'run', reasoningVisible: false }
    const { id, seq } = await ana.accepted(show('run', false))
    await by.accepted(thought('kept'))
    await by.accepted(chat('mark'))
    await seen('mark')
    for (const { frames } of [by, ana, ben, auditor]) {
      const received = frames.filter(ofKind('observe.visibility'))
      expect(received).toEqual([expect.objectContaining({ id, seq, from: 'ana', payload: hidden })])
    }
    expect((await asking(url, 'ben').history('kind=observe.visibility')).envelopes).toHaveLength(1)
  })

  verifies(
    'O23',
    'nothing else of the run is different: it is neither begun anew nor answered otherwise',
    async () => {
      const flow = async (toggles: boolean): Promise<string[]> => {
        const { by, ana, seen } = await onlookers()
        const payload = { metadata: { model: 'acme/large', thinkingLevel: 'high' } }
        await by.accepted({ ...begin('deep'), payload })
        for (const [step, isVisible] of [false, true, false, true, false].entries()) {
          if (toggles) await ana.accepted(show('deep', isVisible))
          await by.accepted(thought(`t${step}`, 'deep'))
        }
        await by.accepted(conclude('deep', 'end'))
        await by.accepted({ ...chat('answer', 'the steps led here'), correlationId: 'deep' })
        const [, frames = []] = await seen('answer')
        const isToggled = ({ kind }: Envelope) =>
          kind === 'observe.visibility' || kind === 'reasoning.thought'
        return frames
          .filter((frame) => frame.from === 'agent' && !isToggled(frame))
          .map(({ seq: _, ts: __, ...rest }) => JSON.stringify(rest))
      }
      const plain = await flow(false)
      expect(plain).toHaveLength(4)
      expect(await flow(true)).toEqual(plain)
    },
  )
})

describe('in flight', () => {
  test('each thought is decided on at its place in the log, though all are committed at once', async () => {
    const { post, ana, thoughtsSeen } = await onlookers()
    const sent = [
      thought('1'),
      show('run', false),
      thought('2'),
      show('run', true),
      thought('3'),
      show('run', false),
      thought('4'),
      conclude(),
      thought('5'),
      chat('mark'),
    ]
    expect(await post('agent', sent)).toMatchObject({ status: 201 })
    expect(await thoughtsSeen('mark')).toEqual(everybody('1', '3', '5'))
    expect(thoughts(ana.frames)).toEqual(['1', '3', '5'])
  })

  test('a run that the log did not hide is not hidden', async () => {
    const disk = faultyDisk(memoryStore())
    const { by, thoughtsSeen, url } = await onlookers({ store: disk.store })
    const { appending, fail } = disk.stall()
    by.send({ id: 'lost', ...show('run', false) })
    await appending
    by.send({ ...thought('too') })
    await by.subscribe({})
    expect(await asking(url, 'ben').json('/contexts/run')).toMatchObject({ reasoningVisible: false })
    fail()
    await by.next(errorFor('too'))
    await by.accepted(thought('seen'))
    await by.accepted(chat('mark'))
    expect(await thoughtsSeen('mark')).toEqual(everybody('seen'))
    expect(await asking(url, 'ben').json('/contexts/run')).toMatchObject({ reasoningVisible: true })
  })

  test('what the log has and nobody has been told yet is not read ahead of that', async () => {
    const disk = faultyDisk(memoryStore())
    const { by, connect, post, url } = await onlookers({ store: disk.store })
    const { seq } = await by.accepted(thought('seen'))
    const { written, goOn } = disk.stallAcknowledgement()
    const posted = post('agent', [show('run', false), thought('withheld')])
    await written
    const late = await connect('ben', { query: 'after=0' })
    await late.next(byId('seen'))
    expect(
      seqs(
        await asking(url, 'ben')
          .history()
          .then(({ envelopes }) => envelopes),
      ).at(-1),
    ).toBe(seq)
    goOn()
    expect(await posted).toMatchObject({ status: 201 })
    await by.accepted(chat('mark'))
    expect(thoughts(await late.until(byId('mark')))).toEqual([])
    expect(thoughts(late.frames)).toEqual(['seen'])
    expect(seqs(late.frames)).toEqual([...new Set(seqs(late.frames))])
  })
})

describe('toggled a hundred times a second', () => {
  verifies('O20', 'it ends alike for everybody, as the last that was accepted says', async () => {
    for (const count of [99, 100]) {
      const { by, ana, seen, url } = await onlookers()
      for (let i = 0; i < count; i++) {
        ;(i % 3 === 0 ? ana : by).send(show('run', i % 2 === 1))
        by.send(thought(`t${i}`))
      }
      await Promise.all([by.subscribe({}), ana.subscribe({})])
      const last = await by.accepted(chat('mark'))
      const all = (await seen('mark')).slice(1)
      const history = await asking(url, 'auditor').history('kind=observe.visibility&limit=1000')
      expect(history.envelopes).toHaveLength(count)
      const lastOf = (id: string) =>
        history.envelopes.filter(({ from }) => from === id).at(-1)?.payload.reasoningVisible
      const [isOwnShown, isAllShown] = [lastOf('agent') !== false, lastOf('ana') !== false]
      for (const frames of all) {
        expect(frames.filter(ofKind('observe.visibility')).map(({ id }) => id)).toEqual(
          history.envelopes.map(({ id }) => id),
        )
        expect(seqs(frames)).toEqual([...seqs(frames)].sort((a, b) => a - b))
      }
      const isShown = isOwnShown && isAllShown
      expect(await asking(url, 'ben').json('/contexts/run')).toMatchObject({ reasoningVisible: isShown })
      const shown = await asking(url, 'ben').history('kind=reasoning.thought&limit=1000')
      expect([shown.envelopes.length, last.seq > count]).toEqual([isShown ? count : 0, true])
    }
  })

  verifies('O20', 'what is over the rate is refused, and counts for nothing', async () => {
    const { by, ana, url } = await onlookers({ limits: { rates: defaultRates } })
    const ids = range(1, 100).map((count) => `v${count}`)
    for (const [index, id] of ids.entries()) ana.send({ id, ...show('run', index % 2 === 1) })
    await ana.accepted(chat('over'))
    const accepted = ana.frames.filter(ofKind('observe.visibility'))
    const refused = ana.frames.filter(ofKind('system.error'))
    expect(accepted.length + refused.length).toBe(100)
    expect(refused.length).toBeGreaterThan(50)
    expect(new Set(refused.map(({ payload }) => payload.code))).toEqual(new Set(['rate_limited']))
    await by.accepted(chat('mark'))
    const received = by.frames.filter(ofKind('observe.visibility'))
    expect(received.map(({ id }) => id)).toEqual(accepted.map(({ id }) => id))
    expect(await asking(url, 'ben').json('/contexts/run')).toMatchObject({
      reasoningVisible: received.at(-1)?.payload.reasoningVisible,
    })
  })
})
