import { expect, test } from 'vitest'
import { meup } from '../support/cli.js'
import {
  type Draft,
  filesOf,
  freshId,
  historyOf,
  inBatches,
  running,
  timeout,
} from '../support/guarded-gateway.js'
import { finderOf } from '../support/needles.js'
import { disguises, needlesIn, type Sample, samples } from '../support/secrets.js'
import { isSoak } from '../support/soak.js'
import { verifies } from '../verifies.js'

/**
 * Makes runs with a text in every place that is guarded, including the ends of runs. Each run has its own context, so that
 * texts of one do not affect another.
 */
function plantings(text: string): Draft[][] {
  const thought = (kind: string, payload: object): Draft => ({
    id: freshId(),
    kind: `reasoning.${kind}`,
    context: freshId(),
    payload,
  })
  const call = (kind: string, method: string): Draft => ({
    id: freshId(),
    kind: `mcp.${kind}`,
    context: freshId(),
    rationale: text,
    payload: { method, params: { name: 'x' } },
  })
  const run = freshId()
  const places = [
    thought('thought', { message: text, phase: 'plan' }),
    thought('conclusion', { message: text }),
    thought('cancel', { reason: text }),
    thought('observation', { content: text, details: [{ deep: [text] }] }),
    thought('question', { message: 'fine', questions: [text], [text]: 1 }),
    thought('thought', { message: 'fine', references: [text] }),
    thought('thought', { message: 'fine', metadata: { note: text, deep: { [text]: 'x' } } }),
    call('request', 'tools/call'),
    call('request', 'tools/list'),
    call('proposal', 'tools/call'),
    { id: freshId(), kind: 'chat', context: freshId(), payload: { message: 'hi', metadata: { a: [text] } } },
    { id: freshId(), kind: 'acme.note', context: freshId(), payload: { metadata: text } },
  ]
  return [
    [
      { id: run, kind: 'reasoning.start', payload: { message: text } },
      { id: freshId(), kind: 'reasoning.conclusion', context: run },
    ],
    ...places.map((each) => [each]),
  ]
}

/** A text with a secret that is sent. `needles`: parts of the secret that must not appear anywhere. */
interface Plant {
  readonly text: string
  readonly needles: readonly string[]
  readonly drafts: readonly Draft[]
}

/**
 * Chooses variants of a sample, and the places for them: the plain text in every third place, and one disguise in every sixth;
 * at night all variants in all places.
 */
function plantsOf({ text, secrets }: Sample, turn: number): Plant[] {
  const [asItIs, ...disguised] = disguises(text, secrets.flatMap(needlesIn))
  const chosen = isSoak ? disguised : [disguised[turn % disguised.length]]
  return [asItIs, ...chosen].flatMap((each, index) => {
    if (each === undefined) return []
    const step = index === 0 ? 3 : 6
    const isHere = (place: number) => isSoak || place % step === turn % step
    return [{ ...each, drafts: plantings(each.text).flatMap((draft, place) => (isHere(place) ? draft : [])) }]
  })
}

verifies(
  ['M27', 'I39'],
  'no secret is in any frame, stream, page, file or log, wherever and however it was written',
  async () => {
    const { folder, gateway, token, enter, get, stop } = await running()
    const corpus = [...samples(), { rule: 'known-secret', text: `I am ${token}.`, secrets: [token] }]
    expect(corpus.length).toBeGreaterThan(100)
    const plants = corpus.flatMap(plantsOf)
    const find = finderOf(plants.flatMap(({ needles }) => needles))
    expect(plants.filter(({ text }) => find(text).length > 0).length / plants.length).toBeGreaterThan(0.95)

    const [ana, ben] = [await enter('ana'), await enter('ben')]
    const events = await get('events?after=0')
    const stream = events.text() // Resolves when the gateway ends.
    for (const batch of inBatches(plants, 20)) await ana.say(batch.flatMap(({ drafts }) => drafts))
    await ana.say([{ id: 'last', kind: 'chat', payload: { message: 'the last' } }])
    await ben.shown('last')

    const atWork = filesOf(folder)
    const haystacks = {
      history: await historyOf(get),
      'meup watch': (await meup(['watch', '--from', '1', '--no-follow', '--as', 'ben'], { cwd: folder }))
        .stdout,
      'meup watch --json': (
        await meup(['watch', '--from', '1', '--no-follow', '--as', 'ben', '--json'], { cwd: folder })
      ).stdout,
      audit: await (await get('audit?limit=1000')).text(),
      export: await (await get('audit/export')).text(),
      markdown: await (await get('audit/export?format=markdown')).text(),
      turns: await (await get('turns?thread_id=demo/ana&limit=100')).text(),
    }
    await stop()
    const everything: Record<string, string | Uint8Array> = {
      ...haystacks,
      ...Object.fromEntries(Object.entries(atWork).map(([path, bytes]) => [`${path}, at work`, bytes])),
      ...filesOf(folder),
      'frames to the sender': ana.frames.join('\n'),
      'frames to others': ben.frames.join('\n'),
      events: await stream,
      stdout: gateway.said.stdout,
      stderr: gateway.said.stderr,
    }
    for (const [name, haystack] of Object.entries(everything)) {
      expect(find(haystack), name).toEqual([])
    }
    for (const name of [
      'history',
      'export',
      'meup watch --json',
      'events',
      'frames to the sender',
      'frames to others',
    ]) {
      expect(String(everything[name]).split('[redacted:').length, name).toBeGreaterThan(plants.length * 2)
    }
  },
  { timeout },
)

/** Positions at which a secret is split: at night all, otherwise the last one and another one in turn. */
function offsetsIn({ length }: string, turn: number): number[] {
  const all = Array.from({ length: length - 1 }, (_, index) => index + 1)
  return isSoak ? all : all.filter((at) => at === length - 1 || at === 1 + (turn % (length - 1)))
}

test(
  'of a secret that is split over two thoughts never both parts are seen',
  async () => {
    const { enter, stop } = await running()
    const ana = await enter('ana')
    const splits = samples().flatMap(({ rule, text, secrets }, turn) =>
      secrets.flatMap((secret) =>
        offsetsIn(secret, turn).map((offset) => {
          const at = text.indexOf(secret) + offset
          return {
            rule,
            parts: [secret.slice(0, offset), secret.slice(offset)],
            texts: [text.slice(0, at), text.slice(at)],
          }
        }),
      ),
    )
    const both: object[] = []
    for (const batch of inBatches(splits, 200)) {
      const drafts = batch.map(({ texts }) => {
        const context = freshId()
        return texts.map((message) => ({
          id: freshId(),
          kind: 'reasoning.thought',
          context,
          payload: { message },
        }))
      })
      const seen = new Map(
        (await ana.say(drafts.flat())).map(({ id, payload }) => [id, String(payload.message)]),
      )
      for (const [index, { rule, texts, parts }] of batch.entries()) {
        const [one = '', two = ''] = drafts[index]?.map(({ id }) => seen.get(id)) ?? []
        const [first = '', second = ''] = parts
        if (one.endsWith(first) && two.startsWith(second)) both.push({ rule, texts })
      }
    }
    expect(both).toEqual([])
    await stop()
  },
  timeout,
)

test('what tools are told and say is the very bytes that were sent, secrets and all', async () => {
  const { enter, get, stop } = await running()
  const [ana, ben] = [await enter('ana'), await enter('ben')]
  const payloads = samples().map(({ text }) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'x',
    params: { text, metadata: { text } },
  }))
  const drafts = payloads.map((payload) => ({ id: freshId(), kind: 'mcp.request', payload }))
  await ana.say(drafts)
  await ben.shown(drafts.at(-1)?.id ?? '')
  const bodies = [...ben.frames, ...(await historyOf(get)).split(/(?<=\}),|\n/)].join('\n')
  for (const payload of payloads) {
    expect(bodies.split(`"payload":${JSON.stringify(payload)}}`).length - 1).toBeGreaterThanOrEqual(2)
  }
  await stop()
})
