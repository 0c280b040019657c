import { Readable, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'
import { AcpServer, type ServedSpace } from './acp-server.js'

export interface Serving {
  /** Resolves when the client has disconnected, or the space was closed by an error, with that error. */
  readonly ended: Promise<Error | undefined>
  /** Takes open questions back, and closes the client. */
  close(): Promise<void>
}

/** Serves the agents of a space over ACP, by default on stdin and stdout. */
export function serveAcp(served: ServedSpace, stream: Stream = openStdio()): Serving {
  const { space } = served
  const server = new AcpServer(served, stream)
  return {
    ended: Promise.race([server.closed.then(() => undefined), space.closed()]),
    async close() {
      await server.close()
      space.close()
    },
  }
}

const openStdio = (): Stream =>
  ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>)
