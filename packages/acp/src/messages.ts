import type { Readable, Writable } from 'node:stream'
import { type AnyMessage, methods, type SessionNotification, type Stream } from '@agentclientprotocol/sdk'
import { isObject } from '@meup/folds'
import { readLines } from '@meup/mcp-bridge'

/** The longest message of an agent. */
const maxMessageBytes = 32 * 1024 * 1024

interface Handlers {
  /** Called in order, as they come: the SDK would refuse those that are newer than itself. */
  onUpdate(notification: SessionNotification): void
  /** A line that is no message. */
  onJunk(line: string): void
}

/** The messages of an agent, one a line, but for session updates. */
export function createStream(stdin: Writable, stdout: Readable, { onUpdate, onJunk }: Handlers): Stream {
  async function* read(): AsyncGenerator<AnyMessage> {
    for await (const line of readLines(stdout, { maxBytes: maxMessageBytes, longer: 'fail' })) {
      const message = parse(line)
      if (message === undefined) {
        if (line.trim() !== '') onJunk(line)
      } else if ('method' in message && message.method === methods.client.session.update) {
        const { params } = message
        if (isObject(params) && isObject(params.update)) onUpdate(params as SessionNotification)
      } else yield message
    }
  }
  return {
    readable: ReadableStream.from(read()),
    writable: new WritableStream({
      write: (message) =>
        new Promise((resolve, reject) =>
          stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
        ),
    }),
  }
}

function parse(line: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'jsonrpc' in value
      ? (value as AnyMessage)
      : undefined
  } catch {
    return undefined
  }
}
