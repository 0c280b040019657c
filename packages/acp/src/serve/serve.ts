import { Readable, type Writable } from 'node:stream'
import { type AnyMessage, ndJsonStream, type Stream } from '@agentclientprotocol/sdk'
import { stringifyExact } from '@meup/protocol'
import { AcpServer, type EditorSpace } from './acp-server.js'

export interface EditorServing {
  /** Resolves when the client has disconnected, or the space was closed by an error, with that error. */
  readonly ended: Promise<Error | undefined>
  /** Retracts open questions, and closes the client. */
  close(): Promise<void>
}

/** Serves the agents of a space over ACP; default: on stdin and stdout. */
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

/** ACP over pipes with exact numbers, because users read them before they approve. */
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
