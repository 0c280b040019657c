import { expect, test } from 'vitest'
import { FrameReader } from '../../bench/load/frame-reader.js'
import { NatsReader } from '../../bench/load/nats-reader.js'
import { checkOrder } from '../../bench/load/waiting.js'

const frameOf = (text: string, first = 0x81): Buffer => {
  const data = Buffer.from(text)
  const long = Buffer.alloc(8)
  long.writeBigUInt64BE(BigInt(data.length))
  const length =
    data.length < 126
      ? [data.length]
      : data.length < 65_536
        ? [126, data.length >> 8, data.length & 255]
        : [127, ...long]
  return Buffer.concat([Buffer.from([first, ...length]), data])
}

/** Feeds bytes in pieces of this size. The pieces share one buffer, like reads from a socket. */
function feed(reader: FrameReader | NatsReader, bytes: Buffer, step: number): void {
  const shared = Buffer.alloc(step)
  for (let at = 0; at < bytes.length; at += step) {
    const end = Math.min(step, bytes.length - at)
    bytes.copy(shared, 0, at, at + end)
    reader.feed(shared, end)
  }
}

const steps = [1, 2, 3, 7, 125, 300, 4096, 1_000_000]

test.for(steps)('frames are counted in pieces of %i bytes', (step) => {
  const [others, watched]: [string[], string[]] = [[], []]
  const reader = new FrameReader({ least: 100, maximum: 70_000 }, (bytes, from, to, opcode) => {
    others.push(`${opcode} ${bytes.toString('utf8', from, to)}`)
  })
  reader.watch = (bytes, from, to) => watched.push(bytes.toString('utf8', from, to))
  const texts = ['a'.repeat(100), 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(70_000), 'e'.repeat(300)]
  const frames = [
    frameOf('short'),
    ...texts.map((text) => frameOf(text)),
    frameOf('?', 0x89),
    frameOf('x'.repeat(70_001)),
  ]
  feed(reader, Buffer.concat(frames), step)
  expect(watched).toEqual(texts)
  expect(others).toEqual(['1 short', '9 ?', `1 ${'x'.repeat(70_001)}`])
  expect([reader.frames, reader.bytes]).toEqual([5, texts.join('').length])
})

test.for(steps)('messages of NATS are counted in pieces of %i bytes', (step) => {
  const [others, watched]: [string[], string[]] = [[], []]
  const reader = new NatsReader({ least: 3, maximum: 10 }, (bytes, from, to) => {
    others.push(bytes.toString('utf8', from, to))
  })
  reader.watch = (bytes, from, to) => watched.push(bytes.toString('utf8', from, to))
  const lines = [
    'INFO {}',
    'PING',
    'MSG bench 1 3\r\nabc',
    'MSG bench 1 10\r\nMSG 1\r\n234',
    'PONG',
    'MSG bench 1 2\r\nxy',
  ]
  feed(reader, Buffer.from(lines.map((line) => `${line}\r\n`).join('')), step)
  expect(watched).toEqual(['abc', 'MSG 1\r\n234'])
  expect(others).toEqual(['INFO {}', 'PING', 'PONG', 'xy'])
  expect([reader.frames, reader.bytes]).toEqual([2, 13])
})

test('a message out of order is noticed, and so is one that is missing', () => {
  const message = (number: number): Buffer => frameOf(`{"id":"s0-${String(number).padStart(9, '0')}"}`)
  const reading = (...numbers: number[]): (() => void) => {
    const reader = new FrameReader({ least: 1, maximum: 100 }, () => {})
    checkOrder(reader, 'r0', [4])
    return () => feed(reader, Buffer.concat(numbers.map(message)), 10)
  }
  expect(reading(4, 5, 6)).not.toThrow()
  expect(reading(4, 6, 5)).toThrow('r0 got 6 of s0, and not 5')
  expect(reading(4, 4)).toThrow('r0 got 4 of s0, and not 5')
  expect(reading(5)).toThrow('r0 got 5 of s0, and not 4')
})
