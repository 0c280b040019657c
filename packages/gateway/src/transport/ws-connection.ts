import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import type { OutboundBatch } from '../core/delivery/outbound-batch.js'
import type { Connection } from '../ports/connection.js'
import { framesOf } from './ws-frames.js'

/** Less than this may wait when a replay reads its next page. */
const lowWater = 64 * 1024

/**
 * A WebSocket as the gateway sees it. A outboundBatch is framed by the first connection it goes to and written to every
 * socket as one buffer; ws itself sends only pings and the close frame.
 */
export class WsConnection implements Connection {
  readonly remote: string
  readonly #ws: WebSocket
  readonly #socket: Socket

  constructor(ws: WebSocket, socket: Socket, remote: string) {
    this.#ws = ws
    this.#socket = socket
    this.remote = remote
  }

  get pending(): number {
    return this.#socket.writableLength
  }

  get isGone(): boolean {
    return this.#ws.readyState !== this.#ws.OPEN
  }

  send(outboundBatch: OutboundBatch): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    outboundBatch.wire ??= framesOf(outboundBatch.messages)
    this.#socket.write(outboundBatch.wire)
  }

  async drained(): Promise<void> {
    while (this.#socket.writableLength > lowWater && !this.#socket.destroyed) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#socket.off('drain', done).off('close', done)
          resolve()
        }
        this.#socket.on('drain', done).on('close', done)
      })
    }
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason)
  }
}

/** The bytes of a message, whichever way ws hands them over. */
export function bytesOf(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return Array.isArray(data) ? Buffer.concat(data) : data
}
