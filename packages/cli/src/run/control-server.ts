import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createConnection } from 'node:net'
import { dirname } from 'node:path'
import { type Details, getErrorMessage } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import { CodedError } from '../failure/failure.js'
import { getControlPath, makeOwnFolder } from '../lib/own-folder.js'

/** Handlers of requests that commands on this machine send to `meup up`: `POST /<name>` with a JSON object. */
export type ControlRequests = Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => unknown>>

/** The response to a request that is wrong, or comes too early. */
export class ControlError extends CodedError {
  override readonly name = 'ControlError'
  constructor(code: string, details: Details, message = `meup up refused that: ${code}`) {
    super(code, details, message, exitCodes.error)
  }
}

export interface ControlServer {
  /** Path of the Unix socket. */
  readonly path: string
  close(): Promise<void>
}

const maxBodyBytes = 64 * 1024

/** Another process is listening on the control socket of this folder. */
export class ControlInUseError extends Error {
  override readonly name = 'ControlInUseError'
}

/**
 * Listens on a Unix socket that only its owner can use. Replaces the socket of a killed gateway; throws `ControlInUseError` if
 * another process is listening.
 */
export async function serveControl(directory: string, requests: ControlRequests): Promise<ControlServer> {
  const path = getControlPath(directory)
  makeOwnFolder(dirname(path))
  const server = createServer((request, response) => {
    answer(request, requests)
      .catch(describeError)
      .then(({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      )
      .catch(() => response.destroy()) // The response could not be written.
  })
  try {
    await listen(server, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (await hasListener(path)) throw new ControlInUseError(`another process answers at ${path}`)
    rmSync(path, { force: true })
    await listen(server, path)
  }
  chmodSync(path, 0o600)
  return {
    path,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })

const hasListener = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function answer(request: IncomingMessage, requests: ControlRequests): Promise<Answer> {
  const name = (request.url ?? '').slice(1)
  const handler = Object.hasOwn(requests, name) ? requests[name] : undefined
  if (handler === undefined) throw new ControlError('unknown_request', { request: name })
  const body = await readBody(request)
  return { status: 200, body: await handler(body) }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBodyBytes) throw new ControlError('too_large', { maxBytes: maxBodyBytes })
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // Invalid JSON is reported below.
  }
  throw new ControlError('invalid_request', { expected: 'a JSON object' })
}

function describeError(error: unknown): Answer {
  const message = getErrorMessage(error)
  if (!(error instanceof CodedError)) return { status: 500, body: { error: { code: 'failed', message } } }
  const { code, details, exitCode } = error
  return { status: 400, body: { error: { code, message, exitCode, details } } }
}
