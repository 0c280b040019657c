import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** What commands on this machine may ask of a running `meup up`: `POST /<name>` with a JSON object. */
export type ControlRequests = Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => unknown>>

/** A refusal: its fields are the answer. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  constructor(
    readonly code: string,
    readonly details: object,
  ) {
    super(code)
  }
}

export interface ControlServer {
  /** Of the Unix socket. */
  readonly path: string
  close(): Promise<void>
}

/** Length of `sun_path` on macOS, with the zero at its end; Linux has four more. */
const maxPathBytes = 103
const maxBodyBytes = 64 * 1024

/** Takes requests on a Unix socket that its owner alone can use. Replaces the socket of a gateway that was killed. */
export async function serveControl(directory: string, requests: ControlRequests): Promise<ControlServer> {
  const folder = makeFolder(directory)
  const path = join(folder, 'control.sock')
  rmSync(path, { force: true })
  const server = createServer((request, response) => {
    answer(request, requests)
      .catch(describeError)
      .then(({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      )
      .catch(() => response.destroy()) // The answer could not be written.
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, resolve)
  })
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

/** `.meup/run`, or a folder for temporary files where that path is too long for a socket. */
function makeFolder(directory: string): string {
  const own = join(directory, '.meup', 'run')
  const isShort = Buffer.byteLength(join(own, 'control.sock')) <= maxPathBytes
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  const folder = isShort ? own : join(tmpdir(), `meup-${name}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  // Another user could have made it first.
  if ((mode & 0o170_000) !== 0o040_000 || uid !== userInfo().uid)
    throw new Error(`${folder} belongs to somebody else`)
  chmodSync(folder, 0o700)
  return folder
}

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
    // Not JSON: refused below.
  }
  throw new ControlError('invalid_request', { expected: 'a JSON object' })
}

function describeError(error: unknown): Answer {
  if (error instanceof ControlError)
    return { status: 400, body: { error: { code: error.code, ...error.details } } }
  const message = error instanceof Error ? error.message : String(error)
  return { status: 500, body: { error: { code: 'failed', message } } }
}
