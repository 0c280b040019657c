import { Readable, type Writable } from 'node:stream'
import { type AnyMessage, ndJsonStream, type Stream } from '@agentclientprotocol/sdk'
import { stringifyExact } from '@meup/protocol'
import { AcpServer, type EditorSpace } from './acp-server.js'

export interface EditorServing {
  /** Resolves when the client has disconnected, or the space was closed; with the error if that closed the space. */
  readonly ended: Promise<Error | undefined>
  /** Retracts open questions, and disconnects the client. */
  close(): Promise<void>
}

/** Serves the agents of a space to an ACP client; default stream: stdin and stdout. */
export function serveAcp(served: EditorSpace, stream: Stream = openStdio()): EditorServing {
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

/** An ACP stream over pipes that keeps numbers exact, because users read arguments before they approve. */
export function openStdio(stdin: Readable = process.stdin, stdout: Writable = process.stdout): Stream {
  const { readable } = ndJsonStream(new WritableStream(), Readable.toWeb(stdin) as ReadableStream<Uint8Array>)
  const writable = new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve, reject) => {
        stdout.write(`${stringifyExact(message)}\n`, (error) => (error ? reject(error) : resolve()))
      }),
  })
  return { readable, writable }
}
