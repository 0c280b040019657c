import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inspectLog } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import type { RecordedItem } from '../src/replay/recording.js'
import { copyInto } from '../src/replay/replay.js'
import { folderWith } from './support/folder.js'
import { bodies, createExport, plain, readText } from './support/recordings.js'

const three = bodies(2)
const proof = { epoch: 'the-epoch', hash: expect.stringMatching(/^[\da-f]{64}$/) }
const idsIn = (items: readonly RecordedItem[]) =>
  items.map((item) => ('withheld' in item ? item.withheld : item.envelope.id))

describe('an export', () => {
  test('gives its envelopes with their seqs, and the rows that they are', async () => {
    const { items, end } = await readText(createExport(three))
    expect(end).toEqual({ ok: true, first: 1, head: 3, withheld: 0, proof })
    const salt = '07'.repeat(16)
    expect(items).toEqual(
      three.map((body, at) => ({
        envelope: { ...JSON.parse(body), seq: at + 1 },
        row: { seq: at + 1, salt, body },
      })),
    )
    // Compares JSON texts, because fields must be in the order of the gateway's output.
    expect(items.map((item) => 'envelope' in item && `${JSON.stringify(item.envelope)}\n`).join('')).toBe(
      plain(three),
    )
  })

  test('says what was withheld, and what was pruned', async () => {
    const withheld = await readText(createExport(three, 1, [2]))
    expect(withheld.end).toEqual({ ok: true, first: 1, head: 3, withheld: 1, proof })
    expect(idsIn(withheld.items)).toEqual(['e1', 2, 'e3'])
    const pruned = await readText(createExport(three, 5))
    expect(pruned.end).toEqual({ ok: true, first: 5, head: 7, withheld: 0, proof })
  })

  test('that is damaged is recognised, with the line', async () => {
    const text = createExport(three)
    const lines = text.split(/(?<=\n)/)
    const odd = (body: string) => createExport(three.with(1, body))
    const cases: [text: string | Uint8Array, line: number, problem: RegExp][] = [
      ['', 0, /it is empty/],
      [text.slice(0, -20), 5, /no gateway has written/],
      [lines.slice(0, 3).join(''), 3, /end is missing, after seq 2/],
      [lines.slice(1).join(''), 1, /beginning is missing/],
      [text.replace('é 0', 'e 0'), 5, /does not add up/],
      [lines.toSpliced(2, 1).join(''), 3, /seq 3 follows 1/],
      [`${text}${lines[4]}`, 6, /after the end/],
      ['some other file\n', 1, /no gateway has written/],
      [odd('{"kind":'), 3, /invalid JSON/],
      [odd('{"kind":"chat"}'), 3, /invalid envelope: \/\w+ is required/],
      [odd(three[1]?.replace('"message"', '"text"') ?? ''), 3, /invalid envelope: \/payload\/message/],
      [odd(`{"seq":2,${three[1]?.slice(1)}`), 3, /as a body/],
    ]
    for (const [changed, line, problem] of cases) {
      const { end } = await readText(changed)
      expect(end).toEqual({ ok: false, line, problem: expect.stringMatching(problem) })
    }
  })
})

describe('plain envelopes', () => {
  const error = { code: 'forbidden', message: 'no' }
  const aside = `${JSON.stringify({ ...JSON.parse(three[1] ?? ''), kind: 'system.error', payload: error })}\n`

  test('are taken as they are, with a seq or without', async () => {
    const { items, end } = await readText(plain(three) + aside)
    expect(end).toEqual({ ok: true, first: 1, head: 3, withheld: 0 })
    expect(items.map((item) => 'row' in item && item.row?.body)).toEqual([...three, false])
    expect(idsIn(items)).toEqual(['e1', 'e2', 'e3', 'e2'])
    const lines = plain(three).split('\n')
    const others = await readText(lines.join('\r\n').trimEnd())
    expect(others.items).toEqual(items.slice(0, 3))
  })

  test('whose seq is not in front are the same without it', async () => {
    const moved = three.map((body, at) => `${JSON.stringify({ ...JSON.parse(body), seq: at + 1 })}\n`)
    const { items } = await readText(moved.join(''))
    expect(items.map((item) => 'row' in item && item.row?.body)).toEqual(three)
  })

  test('may be some of a log; then the first that is missing is known', async () => {
    const lines = plain(bodies(4)).split(/(?<=\n)/)
    expect((await readText(lines.slice(2).join(''))).end).toMatchObject({ first: 3, head: 5, gap: 1 })
    expect((await readText(lines.toSpliced(1, 1).toSpliced(2, 1).join(''))).end).toMatchObject({ gap: 2 })
  })

  test('that are damaged are recognised, with the line', async () => {
    const text = plain(three)
    const bytes = Buffer.from(text)
    const lines = text.split(/(?<=\n)/)
    const cases: [text: string | Uint8Array, line: number, problem: RegExp][] = [
      [text.slice(0, -20), 3, /invalid JSON/],
      [`${text}\n`, 4, /invalid JSON/],
      [lines.toReversed().join(''), 2, /seq 2 follows 3/],
      [text + lines[2], 4, /seq 3 follows 3/],
      [text.replace('"seq":2', '"seq":0'), 2, /invalid envelope: \/seq/],
      [text.replace('"from":"ana"', '"form":"ana"'), 2, /invalid envelope/],
      [bytes.fill(0xff, bytes.indexOf('é'), bytes.indexOf('é') + 2), 2, /not UTF-8/],
    ]
    for (const [changed, line, problem] of cases) {
      const { end } = await readText(changed)
      expect(end).toEqual({ ok: false, line, problem: expect.stringMatching(problem) })
    }
  })
})

describe('no space is made', () => {
  const copy = async (text: string, name?: string) => {
    const path = join(folderWith(), 'copy.db')
    const { items, end } = await readText(text)
    if (!end.ok) throw new Error(end.problem)
    async function* each() {
      yield* items
    }
    const copied = copyInto(path, each(), end, { ...(name !== undefined && { name }), json: true })
    return { path, error: await copied.then(String, (error: Error) => error.message) }
  }

  test.for<[what: string, text: string, name: string | undefined, message: RegExp]>([
    ['that was pruned', createExport(three, 5), 'demo', /begins at seq 5: what came before was pruned/],
    ['with holes', createExport(three, 1, [2, 3]), 'demo', /2 of these were withheld.* observe\.targeted/],
    ['with gaps', plain(three).replace(/^.*\n/, ''), 'demo', /seq 1 is missing: .* observe\.targeted/],
    ['without a name', createExport(three.slice(1)), undefined, /Add --name/],
    ['with a name that no space can have', createExport(three), 'A space', /^--name takes .* not A space/],
  ])('of a recording %s', async ([, text, name, message]) => {
    const { path, error } = await copy(text, name)
    expect(error).toMatch(message)
    expect(existsSync(path)).toBe(false)
  })

  test('of one that changed after it was looked at', async () => {
    const path = join(folderWith(), 'copy.db')
    const { end } = await readText(createExport(three))
    const { items } = await readText(createExport(bodies(3)))
    async function* others() {
      yield* items
    }
    if (!end.ok) throw new Error(end.problem)
    await expect(copyInto(path, others(), end, { name: 'demo' })).rejects.toMatchObject({ code: 'corrupt' })
    expect(inspectLog(path)?.spaces).toEqual([])
  })
})
