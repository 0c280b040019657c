import { randomBytes } from 'node:crypto'

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

/** Makes messages that differ in their numbers alone: the bytes are built once, the numbers put into copies. */
export class Template {
  readonly size: number
  readonly #bytes: Buffer
  readonly #holes: readonly number[]

  /** `text` has a hole where the number of the message goes. */
  constructor(text: string, { before, after }: Wrapping) {
    const payload = Buffer.from(text)
    this.size = payload.length
    this.#bytes = Buffer.concat([before(payload.length), payload, after])
    const holes: number[] = []
    for (let at = this.#bytes.indexOf(hole); at >= 0; at = this.#bytes.indexOf(hole, at + digits))
      holes.push(at)
    this.#holes = holes
  }

  /** `count` messages, numbered from `first`. */
  make(first: number, count: number): Buffer {
    const size = this.#bytes.length
    const made = Buffer.allocUnsafe(size * count)
    for (let i = 0; i < count; i++) {
      this.#bytes.copy(made, i * size)
      for (const at of this.#holes) putNumber(made, i * size + at, first + i)
    }
    return made
  }
}

function putNumber(bytes: Buffer, at: number, value: number): void {
  let rest = value
  for (let place = at + digits - 1; place >= at; place--) {
    bytes[place] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

/** The number that stands at `at`. */
export function numberAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let place = at; place < at + digits; place++) value = value * 10 + (bytes[place] ?? 0) - 48
  return value
}

/** The number of a message stands so far behind that of its sender, which is one digit. */
export const numberBehindSender = 2

const words =
  'the report says that all tests pass but one in the module that reads tokens and the load test comes next '

/** A message of a sender, of so many bytes altogether, every field there that a delivered one has but its place. */
export function messageOf(
  sender: number,
  size: number,
  { kind, context }: { kind: string; context?: string },
): string {
  const fields = {
    protocol: 'meup/v0.3',
    ts: new Date(0).toISOString(),
    from: `s${sender}`,
    id: `s${sender}-${hole}`,
    kind,
    ...(context && { context }),
  }
  const text = (message: string): string => JSON.stringify({ ...fields, payload: { message } })
  const room = size - text(`${hole} `).length
  if (room < 0) throw new Error(`a message has at least ${size - room} bytes, not ${size}`)
  return text(`${hole} ${words.repeat(Math.ceil(size / words.length)).slice(0, room)}`)
}

/** Part of ids that no other run has. */
export const freshName = (): string => randomBytes(6).toString('hex')
