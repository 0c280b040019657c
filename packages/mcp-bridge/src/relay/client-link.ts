import { dropNulls } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client'
import { readInitializeResult } from './initialize-result.js'
import { findId } from './message-id.js'

/** The JSON-RPC code for internal errors. */
const internalError = -32603

/**
 * A transport for the SDK's client. It passes on only responses to the client's own requests, requests of the server, and
 * notifications that the client handles.
 */
export interface ClientLink {
  readonly transport: Transport
  /** The method of the client's last pending request. */
  readonly waitingFor: string | undefined
  /** The result of `initialize` as received. */
  readonly initializeResult: Record<string, unknown> | undefined
  /** The reason why the result of `initialize` is invalid, as the end of a sentence that begins with "it". */
  readonly problem: string | undefined
  /** Passes a message to the client if it is for the client, and returns true. */
  onMessage(message: JSONRPCMessage): boolean
}

/** Methods of notifications that the client handles, which concern its subscriptions. */
const forClient = ['notifications/subscriptions/acknowledged', 'notifications/cancelled']

/** `log`: called with invalid parts of the server's self-description, which are ignored. */
export function createClientLink(outer: Transport, log: (line: string) => void): ClientLink {
  const asked = new Map<RequestId, string>()
  let initializeResult: Record<string, unknown> | undefined
  let problem: string | undefined

  const transport: Transport = {
    ...(outer.hasPerRequestStream === true && { hasPerRequestStream: true }),
    start: () => outer.start(),
    close: () => outer.close(),
    setProtocolVersion: (version) => outer.setProtocolVersion?.(version),
    get sessionId() {
      return outer.sessionId
    },
    send(message, options) {
      if ('method' in message && 'id' in message) asked.set(message.id, message.method)
      return outer.send(message, options)
    },
  }

  const onResponse = (message: JSONRPCMessage & { id: RequestId }): boolean => {
    const id = findId(asked, message.id)
    const method = id === undefined ? undefined : asked.get(id)
    if (id === undefined || method === undefined) return false
    asked.delete(id)
    transport.onmessage?.(
      method === 'initialize' ? readInitialize({ ...message, id }) : readOther({ ...message, id }),
    )
    return true
  }

  const readInitialize = (message: JSONRPCMessage & { id: RequestId }): JSONRPCMessage => {
    if (!('result' in message)) return readOther(message)
    initializeResult = message.result
    const reading = readInitializeResult(message.result)
    if ('problem' in reading) {
      problem = reading.problem
      return { jsonrpc: '2.0', id: message.id, error: { code: internalError, message: problem } }
    }
    for (const each of reading.ignored) log(`ignored a self-description of the server: ${each}`)
    return { jsonrpc: '2.0', id: message.id, result: reading.result }
  }

  return {
    transport,
    get waitingFor() {
      return [...asked.values()].at(-1)
    },
    get initializeResult() {
      return initializeResult
    },
    get problem() {
      return problem
    },
    onMessage(message) {
      if (!('method' in message))
        return message.id !== undefined && onResponse(message as JSONRPCMessage & { id: RequestId })
      if (!('id' in message) && !forClient.includes(message.method)) return false
      transport.onmessage?.(dropNulls(message) as JSONRPCMessage)
      return true
    },
  }
}

/** Repairs a response without a result, or with a malformed error: the client would refuse it. */
function readOther(message: JSONRPCMessage & { id: RequestId }): JSONRPCMessage {
  const { id } = message
  if ('error' in message) {
    const {
      code,
      message: text,
      data,
    } = Object(message.error) as { code?: unknown; message?: unknown; data?: unknown }
    const error = {
      code: Number.isInteger(code) ? Number(code) : internalError,
      message: typeof text === 'string' ? text : 'no reason was given',
      ...omitUndefined({ data }),
    }
    return { jsonrpc: '2.0', id, error }
  }
  const result = 'result' in message ? dropNulls(Object(message.result)) : {}
  return { jsonrpc: '2.0', id, result: result as Record<string, unknown> }
}
