import { connect, type Socket } from 'node:net'
import { testToken } from '@meup/gateway/testing'
import { onTestFinished } from 'vitest'

/** A TCP connection for requests that no library would send. */
export class RawSocket {
  readonly socket: Socket
  /** Resolves to all received bytes when the connection is closed. */
  readonly closed: Promise<string>
  isClosed = false
  readonly #url: URL
  #text = ''
  #wakers: (() => void)[] = []

  constructor(url: string) {
    this.#url = new URL(url)
    this.socket = connect({ host: this.#url.hostname, port: Number(this.#url.port) })
    onTestFinished(() => void this.socket.destroy())
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
      this.#wake()
    })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        this.isClosed = true
        this.#wake()
        resolve(this.#text)
      })
    })
  }

  write(data: string | Uint8Array): this {
    this.socket.write(data)
    return this
  }

  ask(start: string, headers: readonly string[] = [], body = ''): this {
    return this.write([`${start} HTTP/1.1`, `host: ${this.#url.host}`, ...headers, '', body].join('\r\n'))
  }

  /** Requests a WebSocket for the space `test`. */
  upgrade(token = testToken('alice')): this {
    return this.ask('GET /spaces/test/ws', [
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-protocol: meup.v0.3',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      `authorization: Bearer ${token}`,
    ])
  }

  /** Resolves to all received bytes as soon as they match. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.isClosed) throw new Error(`closed after ${JSON.stringify(this.#text)}`)
      await new Promise<void>((resolve) => this.#wakers.push(resolve))
    }
    return this.#text
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake()
  }
}

/** A frame as clients send it: masked, here with a mask of zeros. */
export function frame(opcode: number, payload: string | Uint8Array, isLast = true): Buffer {
  const bytes = Buffer.from(payload)
  const isShort = bytes.length < 126
  const length = isShort ? [bytes.length | 0x80] : [126 | 0x80, bytes.length >> 8, bytes.length & 255]
  return Buffer.concat([Buffer.from([opcode | (isLast ? 0x80 : 0), ...length, 0, 0, 0, 0]), bytes])
}

/** The code and the reason of the close frame at the end of the received bytes. */
export function kickMessage(received: string): { code: number; reason: string } | undefined {
  const bytes = Buffer.from(received, 'latin1')
  const at = bytes.lastIndexOf(0x88)
  if (at < 0 || bytes.length < at + 4) return undefined
  return { code: bytes.readUInt16BE(at + 2), reason: bytes.subarray(at + 4).toString() }
}
