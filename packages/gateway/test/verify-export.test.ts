import { expect, test } from 'vitest'
import { exportOf, type Line, linesOf, sha256, talkedIn, verdictFor } from './audit-export.js'
import { range } from './client.js'

/** Returns a generator of numbers below a bound; equal seeds give equal numbers (mulberry32). */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

type Tampering = (bytes: Buffer, roll: (below: number) => number) => Buffer

const linesIn = (bytes: Buffer): Buffer[] =>
  [...bytes.toString('latin1').matchAll(/[^\n]*\n/g)].map(([line]) => Buffer.from(line, 'latin1'))

const tamperings: Record<string, Tampering> = {
  flip: (bytes, roll) => {
    const [changed, at] = [Buffer.from(bytes), roll(bytes.length)]
    changed.writeUInt8(bytes.readUInt8(at) ^ (1 << roll(8)), at)
    return changed
  },
  delete: (bytes, roll) => {
    const lines = linesIn(bytes)
    const [start, at] = [roll(bytes.length), roll(lines.length)]
    return roll(2) === 0
      ? Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 1 + roll(40))])
      : Buffer.concat(lines.toSpliced(at, 1 + roll(3)))
  },
  insert: (bytes, roll) => {
    const lines = linesIn(bytes)
    const [start, at] = [roll(bytes.length + 1), roll(lines.length + 1)]
    const more = Buffer.from(range(0, roll(3)).map(() => roll(256)))
    const copy = lines[roll(lines.length)] ?? more
    return roll(2) === 0
      ? Buffer.concat([bytes.subarray(0, start), more, bytes.subarray(start)])
      : Buffer.concat(lines.toSpliced(at, 0, copy))
  },
  reorder: (bytes, roll) => {
    const lines = linesIn(bytes)
    const [line = bytes] = lines.splice(roll(lines.length), 1)
    return Buffer.concat(lines.toSpliced(roll(lines.length + 1), 0, line))
  },
  truncate: (bytes, roll) => bytes.subarray(0, roll(bytes.length)),
}

test('of 1,000 random tamperings with an export none goes unnoticed', async () => {
  const { url } = await talkedIn()
  const roll = dice(20_261_121)
  for (const [name, tamper] of Object.entries(tamperings)) {
    for (const reader of ['auditor', 'bob']) {
      const original = Buffer.from(await exportOf(url, reader))
      expect(await verdictFor(original)).toMatchObject({ ok: true })
      for (let count = 0; count < 100; ) {
        const changed = tamper(original, roll)
        if (changed.equals(original)) continue
        count++
        const { ok } = await verdictFor(changed)
        if (ok) expect.unreachable(`${name}: ${changed}`)
      }
    }
  }
})

/** The lines of a small export, some of them by name. */
async function small() {
  const { url } = await talkedIn()
  const all = linesOf(await exportOf(url, 'auditor'))
  const [header, first, second, ...rest] = all as [Line, Line, Line, ...Line[]]
  const lines: readonly object[] = all
  const shownAt = (id: string) => all.findIndex(({ body }) => body?.includes(`"id":"${id}"`))
  return { lines, header, first, second, rest, trailer: all.at(-1) ?? {}, shownAt }
}

const written = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

test('says where it is wrong, and what', async () => {
  const { lines, header, first, second, rest, trailer, shownAt } = await small()
  const open = lines[shownAt('open')] as Line
  const end = lines.length
  const cases: [lines: readonly object[], line: number, problem: RegExp][] = [
    [[], 0, /it is empty/],
    [[first, second, ...rest], 1, /beginning is missing/],
    [[header], 1, /end is missing, after seq 0/],
    [lines.slice(0, -1), end - 1, /end is missing, after seq/],
    [[...lines, trailer], end + 1, /after the end/],
    [[header, header, first, second, ...rest], 2, /second time/],
    [[{ ...header, first: 0 }, ...lines.slice(1)], 1, /counted from 1/],
    [[{ ...header, epoch: 'another' }, ...lines.slice(1)], 1, /does not link to the epoch/],
    [[header, second, ...rest], 2, /seq 2 follows 0/],
    [[header, second, first, ...rest], 2, /seq 2 follows 0/],
    [[header, first, first, second, ...rest], 3, /seq 1 follows 1/],
    [[{ ...header, first: 2 }, second, ...rest], end - 1, /does not add up/],
    [lines.with(-1, { ...trailer, epoch: 'another' }), end, /another epoch/],
    [lines.with(-1, { ...trailer, head: (trailer.head ?? 0) + 1 }), end, /says that it ends at/],
    [lines.with(-1, { ...trailer, hash: '0'.repeat(64) }), end, /does not add up/],
    [lines.with(shownAt('open'), { ...open, body: `${open.body?.replace('for', 'fur')}` }), end, /add up/],
    [lines.with(1, { ...first, salt: '0'.repeat(32) }), end, /does not add up/],
    [lines.with(1, { seq: 1, leaf: '0'.repeat(64) }), end, /does not add up/],
    [lines.with(1, { ...first, note: 'x' }), 2, /no gateway has written/],
    [lines.with(1, { ...first, salt: first.salt?.toUpperCase() }), 2, /no gateway has written/],
    [lines.with(1, { ...first, salt: `${first.salt}00` }), 2, /no gateway has written/],
    [lines.with(1, { ...first, body: '\ud800' }), 2, /no gateway has written/],
    [lines.with(1, { ...first, seq: 1.5 }), 2, /no gateway has written/],
    [lines.with(1, { salt: first.salt, seq: 1, body: first.body }), 2, /no gateway has written/],
  ]
  for (const [changed, line, problem] of cases) {
    const verdict = await verdictFor(written(changed))
    expect(verdict).toEqual({ ok: false, line, problem: expect.stringMatching(problem) })
  }
})

test('takes a line as it was written, to the byte', async () => {
  const { lines } = await small()
  const text = written(lines)
  expect(await verdictFor(text)).toMatchObject({ ok: true, checked: lines.length - 2 })
  const [line, problem] = [1, 'no gateway has written this line']
  for (const changed of [
    ` ${text}`,
    `\ufeff${text}`,
    `\n${text}`,
    text.replaceAll('\n', '\r\n'),
    text.replace(':1,', ':1.0,'),
    text.replace('{"epoch":', '{"epoch":"","epoch":'),
  ]) {
    expect(await verdictFor(changed)).toEqual({ ok: false, line, problem })
  }
  expect(await verdictFor(text.slice(0, -1))).toEqual({ ok: false, line: lines.length, problem })
  expect(await verdictFor(`${text}\n`)).toEqual({ ok: false, line: lines.length + 1, problem })
  expect(await verdictFor(text.replace('é', '\\u00e9'))).toMatchObject({ ok: false, problem })
})

test('is told by whoever passes it on less, and never something else', async () => {
  const { lines, header, first } = await small()
  const leaf = sha256(Buffer.concat([Buffer.from(first.salt ?? '', 'hex'), Buffer.from(first.body ?? '')]))
  const blackened = [header, { seq: 1, leaf: leaf.toString('hex') }, ...lines.slice(2)]
  expect(await verdictFor(written(blackened))).toMatchObject({ ok: true, shown: lines.length - 5 })
})

test('can be held against a head that was kept', async () => {
  const { lines, header, trailer } = await small()
  const { epoch } = header
  const [head, hash] = [trailer.head ?? 0, trailer.hash ?? '']
  const text = written(lines)
  const beginning = { seq: 0, hash: sha256(Buffer.from(epoch ?? '')).toString('hex') }
  expect(await verdictFor(text, { seq: head, hash })).toMatchObject({ ok: true, head, hash })
  expect(await verdictFor(text, beginning)).toMatchObject({ ok: true })
  const wrong = { seq: 3, hash: '0'.repeat(64) }
  expect(await verdictFor(text, wrong)).toMatchObject({
    line: 4,
    problem: expect.stringMatching(/seq 3 has/),
  })
  const later = { seq: head + 1, hash }
  expect(await verdictFor(text, later)).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/without/),
  })
})
