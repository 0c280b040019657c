import { request } from 'node:http'
import { isObject } from '@meup/folds'
import { Failure } from '../failure/failure.js'
import { isRunning, readGatewayFile } from './running-gateway.js'

/** What `meup up` answers: a result, or why there is none. */
export interface ControlAnswer {
  readonly error?: { readonly code: string; readonly [detail: string]: unknown }
  readonly [field: string]: unknown
}

/** Milliseconds that a `meup up` on this machine may take to answer. */
const localTimeoutMs = 5000

/** Asks the `meup up` of a folder for something. Throws `Failure` if none runs there, or only a gateway. */
export async function requestControl(directory: string, name: string, body: object): Promise<ControlAnswer> {
  const none = (cause?: unknown): Failure => new Failure('no_programs', { folder: directory }, { cause })
  const file = readGatewayFile(directory)
  if (file === undefined) throw none()
  const { url, control } = file
  if (control === undefined) throw (await isRunning(file)) ? new Failure('gateway_alone', { url }) : none()
  const text = await post(control, name, JSON.stringify(body)).catch((error: NodeJS.ErrnoException) => {
    throw isNobody(error) ? none(error) : error
  })
  const answer: unknown = JSON.parse(text)
  if (!isObject(answer)) throw new Error(`meup up answered ${name} with ${text.slice(0, 100)}`)
  return answer as ControlAnswer
}

/** Whether nothing listens at the socket: a gateway that was killed has left its files behind. */
const isNobody = ({ code = '' }: NodeJS.ErrnoException): boolean => ['ENOENT', 'ECONNREFUSED'].includes(code)

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
