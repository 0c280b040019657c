import { randomBytes } from 'node:crypto'
import { type TextKind, textsOf } from './texts.js'

/** Digits of a message's number in its id. */
const digits = 9
const hole = '#'.repeat(digits)

/** The text before the sender's number in the id of a message. */
export const mark = '"id":"s'

/** The bytes that a protocol puts around a message. */
export interface Wrapping {
  before(length: number): Buffer
  readonly after: Buffer
}

/**
 * Makes the messages of a sender, with its texts in turn. Encodes each text once; numbers are written into copies of the bytes.
 */
export class Template {
  /** Bytes of the shortest and of the longest message, without `Wrapping`. */
  readonly minSize: number
  readonly maxSize: number
  readonly #messages: readonly { readonly bytes: Buffer; readonly hole: number }[]

  /** `messages`: texts with a placeholder (`hole`) for the number. */
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

  /** Makes `count` messages, numbered from `first`. */
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

/** Offset from the sender's number, which is one digit, to the message's number. */
export const numberBehindSender = 2

/** The content of a sender's messages. */
interface Said {
  readonly kind: string
  readonly context?: string
  readonly texts: TextKind
}

/** Makes the messages of a sender, of at most `size` bytes. They have all fields of a delivered envelope except `seq`. */
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

/** Makes a part of ids that no other run uses. */
export const freshName = (): string => randomBytes(6).toString('hex')
