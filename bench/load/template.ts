import { randomBytes } from 'node:crypto'
import { type TextKind, textsOf } from './texts.js'

/** Digits of the number in the id of a message. */
const digits = 9
const hole = '#'.repeat(digits)

/** Before the number of the sender, in the id of a message. */
export const mark = '"id":"s'

/** How a wire wraps what is sent. */
export interface Wrapping {
  before(length: number): Buffer
  readonly after: Buffer
}

/**
 * Makes the messages of a sender, one text after the other and the first again behind the last: their bytes are built once, the
 * numbers put into copies.
 */
export class Template {
  /** Bytes of the shortest message and of the longest one, without what the wire adds. */
  readonly minSize: number
  readonly maxSize: number
  readonly #messages: readonly { readonly bytes: Buffer; readonly hole: number }[]

  /** Messages have one hole each, for their number. */
  constructor(messages: readonly string[], { before, after }: Wrapping) {
    const payloads = messages.map((text) => Buffer.from(text))
    const sizes = payloads.map(({ length }) => length)
    this.minSize = Math.min(...sizes)
    this.maxSize = Math.max(...sizes)
    this.#messages = payloads.map((payload) => {
      const bytes = Buffer.concat([before(payload.length), payload, after])
      return { bytes, hole: bytes.indexOf(hole) }
    })
  }

  /** `count` messages, numbered from `first`. */
  make(first: number, count: number): Buffer {
    let size = 0
    for (let i = 0; i < count; i++) size += this.#messageAt(first + i).bytes.length
    const made = Buffer.allocUnsafe(size)
    for (let i = 0, at = 0; i < count; i++) {
      const { bytes, hole } = this.#messageAt(first + i)
      bytes.copy(made, at)
      putNumber(made, at + hole, first + i)
      at += bytes.length
    }
    return made
  }

  #messageAt(number: number) {
    const message = this.#messages[number % this.#messages.length]
    if (message === undefined) throw new Error('a sender needs a message to send')
    return message
  }
}

function putNumber(bytes: Buffer, at: number, value: number): void {
  let rest = value
  for (let place = at + digits - 1; place >= at; place--) {
    bytes[place] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

/** Parses the number at `at`. */
export function numberAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let place = at; place < at + digits; place++) value = value * 10 + (bytes[place] ?? 0) - 48
  return value
}

/** Distance of a message's number from its sender's, which is one digit. */
export const numberBehindSender = 2

/** The content that a sender sends. */
interface Said {
  readonly kind: string
  readonly context?: string
  readonly texts: TextKind
}

/** Messages of a sender of at most `size` bytes, with all fields of a delivered one except `seq`. */
export function messagesOf(sender: number, size: number, { kind, context, texts }: Said): string[] {
  const fields = {
    protocol: 'meup/v0.3',
    ts: new Date(0).toISOString(),
    from: `s${sender}`,
    id: `s${sender}-${hole}`,
    kind,
    ...(context && { context }),
  }
  const messageOf = (message: string): string => JSON.stringify({ ...fields, payload: { message } })
  const room = size - messageOf('').length
  if (room <= 0) throw new Error(`a message has more than ${size - room} bytes, not ${size}`)
  return textsOf(texts, room).map(messageOf)
}

/** Part of ids that no other run has. */
export const freshName = (): string => randomBytes(6).toString('hex')
