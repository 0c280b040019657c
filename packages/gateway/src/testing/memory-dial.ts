import { ProtocolError } from '@meup/protocol'
import type { OutboundBatch } from '../core/delivery/outbound-batch.js'
import { isDenial, placeless, type Resume } from '../host/connection-gate.js'
import type { ConnectRequest, Gateway } from '../host/gateway.js'
import type { Connection } from '../ports/connection.js'

/** What a client hears on its line. */
export interface LineEvents {
  message(text: string): void
  close(code: number, reason: string): void
}

/** The client's end of a connection in memory. */
export interface MemoryLine {
  send(text: string): void
  close(code: number, reason: string): void
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** The gateway's end. Frames arrive in later turns of the event loop, as they do from a socket. */
class MemoryConnection implements Connection {
  readonly remote = 'memory'
  readonly pending = 0
  readonly #events: LineEvents
  #ended: (() => void) | undefined

  constructor(events: LineEvents, ended: () => void) {
    this.#events = events
    this.#ended = ended
  }

  get isGone(): boolean {
    return this.#ended === undefined
  }

  send({ messages }: OutboundBatch): void {
    for (const { text } of messages) setImmediate(() => this.#events.message(decoder.decode(text)))
  }

  drained(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  close(code: number, reason: string): void {
    const ended = this.#ended
    this.#ended = undefined
    if (ended === undefined) return
    setImmediate(() => {
      ended()
      this.#events.close(code, reason)
    })
  }
}

/** Connects to a gateway in the same process, without a socket. Throws `ProtocolError` when it lets nobody in. */
export async function dialInMemory(
  gateway: Gateway,
  request: Omit<ConnectRequest, 'remote'> & Resume,
  events: LineEvents,
): Promise<MemoryLine> {
  const misplaced = placeless(request)
  if (misplaced !== undefined) throw new ProtocolError(misplaced.code, misplaced.message)
  const grant = await gateway.admit({ ...request, remote: 'memory' })
  if (isDenial(grant)) throw new ProtocolError(grant.code, grant.message)
  let leave = (): void => {}
  const connection = new MemoryConnection(events, () => leave())
  const line = await grant.open(connection, request)
  leave = () => line.closed()
  return {
    send: (text) => setImmediate(() => line.receive(encoder.encode(text))),
    close: (code, reason) => connection.close(code, reason),
  }
}
