import { request } from 'node:http'
import { isObject } from '@meup/folds'
import { Failure } from '../failure/failure.js'
import { UsageError } from './exit.js'
import { getControlPath } from './own-folder.js'
import { isRunning, readGatewayFile } from './running-gateway.js'

/** The response of `meup up`: a result, or an error. */
export interface ControlAnswer {
  readonly error?: { readonly code: string; readonly [detail: string]: unknown }
  readonly [field: string]: unknown
}

/** Timeout of a response from `meup up` on this machine. */
const localTimeoutMs = 5000

/** Sends a control request to the `meup up` of a folder. Throws `Failure` if none runs there, or only a gateway. */
export async function requestControl(directory: string, name: string, body: object): Promise<ControlAnswer> {
  const file = readGatewayFile(directory)
  const path = file?.control ?? getControlPath(directory) // `meup up` writes gateway.json only after its start.
  const text = await post(path, name, JSON.stringify(body)).catch(async (cause: NodeJS.ErrnoException) => {
    if (!isNobody(cause)) throw cause
    if (file !== undefined && file.control === undefined && (await isRunning(file)))
      throw new Failure('gateway_alone', { url: file.url })
    throw new Failure('no_programs', { folder: directory }, { cause })
  })
  const answer: unknown = JSON.parse(text)
  if (!isObject(answer)) throw new Error(`meup up answered ${name} with ${text.slice(0, 100)}`)
  return answer as ControlAnswer
}

/** Converts an error response of `meup up` to an error for the user. */
export function explainRefusal(error: NonNullable<ControlAnswer['error']>): Error {
  const { code, name, kind, meant, programs } = error
  const text = String(name)
  switch (code) {
    case 'unknown':
      return meant === undefined
        ? new UsageError(`no program is called ${text}; programs here: ${formatNames(programs)}`)
        : new Failure('unknown_participant', { name: text, meant: String(meant) })
    case 'no_program':
      return new Failure('no_program', { name: text, kind: String(kind), programs: formatNames(programs) })
    case 'ambiguous':
      return new UsageError(`${text} is a program of several spaces; choose one of ${formatNames(programs)}`)
    case 'no_token':
      return new UsageError(
        `${text} is not started, because its token is revoked; meup token create ${text} makes one`,
      )
    case 'starting':
      return new Error('meup up has not started its programs yet; try again')
    default:
      return new Error(`meup up refused that: ${code}`)
  }
}

/** Joins names: `bot, files`, or `none`. */
export const formatNames = (labels: unknown): string =>
  Array.isArray(labels) && labels.length > 0 ? labels.join(', ') : 'none'

/** Whether no process is listening on the socket, or it exited before it responded. */
const isNobody = ({ code = '' }: NodeJS.ErrnoException): boolean =>
  ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)

function post(socketPath: string, name: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: `/${name}`, method: 'POST', headers }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk
        })
        .on('end', () => resolve(text))
        .on('error', reject)
    })
    sent.setTimeout(localTimeoutMs, () => sent.destroy(new Error(`meup up did not answer ${name}`)))
    sent.on('error', reject).end(body)
  })
}
