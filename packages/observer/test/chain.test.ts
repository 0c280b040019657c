import { createHash } from 'node:crypto'
import { BrokenChain, ChainCheck } from '@meup/observer/model'
import { exportLine } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

interface Entry {
  readonly salt: Buffer
  body: string
  /** The hash at this entry, as the gateway has stored it. */
  hash: Buffer
  readonly isWithheld: boolean
}

/** A gateway's log and its exports. */
class Gateway {
  epoch = 'one'
  readonly entries: Entry[] = []
  /** Envelopes that the page received, by seq. */
  readonly shown = new Map<number, object>()
  asked: number[] = []

  add(count: number): void {
    for (let more = 0; more < count; more++) {
      const seq = this.entries.length + 1
      const message = { id: `e${seq}`, payload: { message: `message ${seq}` } }
      const salt = Buffer.alloc(16, seq)
      this.entries.push({
        ...{ salt, body: JSON.stringify(message), isWithheld: seq % 5 === 0 },
        hash: Buffer.alloc(0),
      })
      if (seq % 5 !== 0 && seq % 3 !== 0) this.shown.set(seq, { seq, ...message })
    }
    this.chain()
  }

  /** Computes the hashes of all entries again. */
  chain(): void {
    let hash = this.getPreviousHash(1)
    for (const [index, entry] of this.entries.entries()) {
      const place = Buffer.alloc(8)
      place.writeBigUInt64BE(BigInt(index + 1))
      hash = sha256(hash, place, this.hashLeaf(entry))
      entry.hash = hash
    }
  }

  hashLeaf({ salt, body }: Entry): Buffer {
    return sha256(salt, Buffer.from(body))
  }

  getPreviousHash(seq: number): Buffer {
    return this.entries[seq - 2]?.hash ?? sha256(Buffer.from(this.epoch))
  }

  lines(after: number): string[] {
    this.asked.push(after)
    const begin = Math.max(after, 0)
    const { epoch, entries } = this
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
    const middle = entries.slice(begin).map((entry, index) => {
      const seq = begin + index + 1
      if (entry.isWithheld) return exportLine({ seq, leaf: hex(this.hashLeaf(entry)) })
      return exportLine({ seq, salt: hex(entry.salt), body: entry.body })
    })
    return [
      exportLine({ epoch, first: begin + 1, previous: hex(this.getPreviousHash(begin + 1)) }),
      ...middle,
      exportLine({ epoch, head: entries.length, hash: hex(this.getPreviousHash(entries.length + 1)) }),
    ]
  }

  /** Creates a check of this log. `change` falsifies the lines of the export before the check reads them. */
  check(change = (lines: string[], _after: number): string[] => lines): ChainCheck {
    const open = async function* (this: Gateway, after: number): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from(change(this.lines(after), after).join(''))
    }
    return new ChainCheck(this.epoch, {
      sha256: (bytes) => sha256(bytes),
      open: (after) => open.call(this, after),
      shown: (seq) => this.shown.get(seq),
      pause: () => undefined,
    })
  }
}

const filled = (count: number): Gateway => {
  const gateway = new Gateway()
  gateway.add(count)
  return gateway
}

/** The result of a check: the head, or the seq at which the chain breaks. */
const found = (check: ChainCheck): Promise<unknown> =>
  check.check().then(
    ({ head }) => ({ head }),
    (error: unknown) => ({ wrong: error instanceof BrokenChain ? error.seq : String(error) }),
  )

describe('a log that is whole', () => {
  test('is computed once, and from there on', async () => {
    const gateway = filled(20)
    const check = gateway.check()
    expect(await check.check()).toEqual({ first: 1, head: 20, read: 16, compared: 11 })
    gateway.add(10)
    expect(await check.check()).toEqual({ first: 1, head: 30, read: 24, compared: 16 })
    expect(await check.check()).toEqual({ first: 1, head: 30, read: 24, compared: 16 })
    expect(gateway.asked).toEqual([-1, 20, 30])
    for (const seq of [0, 1, 20, 30]) {
      expect(check.hashes.get(seq)).toBe(gateway.getPreviousHash(seq + 1).toString('hex'))
    }
    expect(check.hashes.get(31)).toBeUndefined()
  })

  test('may have lost its beginning to pruning', async () => {
    const gateway = filled(20)
    const check = gateway.check((_, after) => gateway.lines(Math.max(after, 8)))
    expect(await check.check()).toMatchObject({ first: 9, head: 20 })
    expect(check.hashes.get(7)).toBeUndefined()
  })

  test('that is empty, is whole', async () => {
    expect(await filled(0).check().check()).toMatchObject({ head: 0, read: 0 })
  })

  test('and breaks off on the way, proves nothing and loses nothing', async () => {
    const gateway = filled(10)
    let isBroken = false
    const check = gateway.check((lines) => (isBroken ? lines.slice(0, -1) : lines))
    await check.check()
    gateway.add(5)
    isBroken = true
    await expect(check.check()).rejects.toThrow('its end is missing')
    expect([check.checked?.head, check.hashes.last]).toEqual([10, 10])
    isBroken = false
    expect(await found(check)).toEqual({ head: 15 })
  })
})

describe('a log that was changed', () => {
  test('is told by the first envelope that is different, with few questions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 200 }),
        async (one, other) => {
          const gateway = filled(200)
          for (const seq of [one, other]) {
            const entry = gateway.entries[seq - 1]
            if (entry !== undefined) entry.body = entry.body.replace('message', 'massage')
          }
          gateway.shown.clear()
          expect(await found(gateway.check())).toEqual({ wrong: Math.min(one, other) })
          expect(gateway.asked.length).toBeLessThan(12)
        },
      ),
    )
  })

  test('and chained anew, is told by what was shown', async () => {
    const gateway = filled(20)
    const entry = gateway.entries[6]
    if (entry !== undefined) entry.body = '{"id":"e7","payload":{"message":"never said"}}'
    gateway.chain()
    expect(await found(gateway.check())).toEqual({ wrong: 7 })
    gateway.shown.clear()
    expect(await found(gateway.check())).toEqual({ head: 20 })
  })

  test('and chained anew, is told by what was checked before', async () => {
    const gateway = filled(20)
    gateway.shown.clear()
    const check = gateway.check()
    await check.check()
    const entry = gateway.entries[12]
    if (entry !== undefined) entry.body = '{}'
    gateway.add(1)
    expect(await found(check)).toEqual({ wrong: 13 })
    check.reset()
    await expect(check.check()).rejects.toThrow('up to #20 is not what was checked here before')
  })

  test.for([
    ['begins elsewhere', (lines: string[], after: number, all: string[]) => (after > 0 ? all : lines)],
    ['is of another epoch', (lines: string[]) => lines.map((line) => line.replace('"one"', '"two"'))],
    ['has lost an envelope', (lines: string[]) => lines.toSpliced(2, 1)],
    ['has two in another order', (lines: string[]) => lines.toSpliced(1, 2, lines[2] ?? '', lines[1] ?? '')],
    ['has something that nobody writes', (lines: string[]) => lines.toSpliced(1, 0, '{}\n')],
    [
      'has another hash at its end',
      (lines: string[]) => [...lines.slice(0, -1), (lines.at(-1) ?? '').replace(/[\da-f]"}\n$/, '_"}\n')],
    ],
    ['goes on after its end', (lines: string[]) => [...lines, lines[1] ?? '']],
  ] as const)('and %s, gets no tick', async ([, change]) => {
    const gateway = filled(10)
    gateway.shown.clear()
    let isChanged = false
    const check = gateway.check((lines, after) =>
      isChanged ? change(lines, after, gateway.lines(0)) : lines,
    )
    await check.check()
    gateway.add(10)
    isChanged = true
    await expect(check.check()).rejects.toThrow(BrokenChain)
    expect(check.checked?.head).toBe(10)
  })

  test('at a random byte, gets no tick', async () => {
    const gateway = filled(12)
    const text = gateway.lines(0).join('')
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: text.length - 1 }),
        fc.integer({ min: 0, max: 255 }),
        async (at, byte) => {
          const bytes = Buffer.from(text)
          fc.pre(bytes[at] !== byte)
          bytes[at] = byte
          const changed = new ChainCheck(gateway.epoch, {
            ...{ sha256: (each: Uint8Array) => sha256(each), shown: () => undefined, pause: () => undefined },
            open: async function* () {
              yield bytes
            },
          })
          await expect(changed.check()).rejects.toThrow()
        },
      ),
    )
  })
})
