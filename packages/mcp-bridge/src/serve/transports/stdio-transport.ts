import type { Readable, Writable } from 'node:stream'
import { getErrorMessage, stringifyExact } from '@meup/protocol'
import type { Transport } from '@modelcontextprotocol/server'
import { readLines } from '../../child/lines.js'
import type { DroppedText } from '../../child/text-buffer.js'
import { restoreNumbers } from '../../exact-numbers.js'
import { createTooLong, readDropped } from '../../relay/dropped-message.js'
import type { FaultLog } from '../../relay/fault-log.js'
import type { Fault } from '../../relay/read-message.js'
import {
  createFailedAnswer,
  createFaultAnswer,
  maxMessageBytes,
  readClientMessages,
  wantsAnswer,
} from './client-messages.js'

/** The streams to and from a client. */
export interface Pipes {
  readonly stdin: Readable
  readonly stdout: Writable
}

/**
 * An MCP transport over stdin and stdout. Unlike that of the SDK, it responds to invalid lines, and continues after lines over
 * the size limit.
 */
export function createStdioTransport({ stdin, stdout }: Pipes, faults: FaultLog): Transport {
  const report = (error: unknown): void => transport.onerror?.(new Error(getErrorMessage(error)))
  const onFault = (fault: Fault): void => {
    if (fault.isReported !== true) faults.report(fault)
    if (wantsAnswer(fault)) transport.send(createFaultAnswer(fault)).catch(report)
    const failed = createFailedAnswer(fault)
    if (failed !== undefined) transport.onmessage?.(failed)
  }
  const readAll = async (): Promise<void> => {
    const limit = {
      maxBytes: maxMessageBytes,
      longer: 'drop',
      isPaced: true,
      onTooLong: (head: string) => faults.report(createTooLong(head, maxMessageBytes)),
      onDropped: (line: DroppedText) => {
        onFault(readDropped(line, maxMessageBytes))
        return undefined
      },
    } as const
    for await (const line of readLines(stdin, limit)) {
      if (line.trim() === '') continue
      for (const reading of readClientMessages(line)) {
        if ('message' in reading) transport.onmessage?.(reading.message)
        else onFault(reading.fault)
      }
    }
  }
  let isClosed = false
  const transport: Transport = {
    async start() {
      readAll()
        .catch((error: unknown) => {
          if (!isClosed) report(error)
        })
        .finally(() => void transport.close().catch(report))
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        stdout.write(`${restoreNumbers(stringifyExact(message))}\n`, (error) =>
          error ? reject(error) : resolve(),
        )
      }),
    async close() {
      if (isClosed) return
      isClosed = true
      stdin.destroy()
      faults.end()
      transport.onclose?.()
    },
  }
  return transport
}
