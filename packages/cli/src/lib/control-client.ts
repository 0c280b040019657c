import { request } from 'node:http'
import { dirname, resolve } from 'node:path'
import { isObject } from '@meup/folds'
import type { Details } from '@meup/protocol'
import { exitCodes } from '../failure/exit-codes.js'
import { CodedError, Failure } from '../failure/failure.js'
import { getControlPath } from './own-folder.js'
import { findGatewayProcess, isRunning, readGatewayFile } from './running-gateway.js'

/** The result of a control request. */
type ControlAnswer = Readonly<Record<string, unknown>>

/** Timeout of a response from `meup up` on this machine. */
const localTimeoutMs = 5000

/**
 * Sends a control request to the `meup up` of a folder. Throws `Failure` if none runs there, or only a gateway, and
 * `CodedError` if it refuses.
 */
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
  if (!isObject(answer.error)) return answer
  const { code, details, message, exitCode = exitCodes.error } = answer.error
  throw new CodedError(String(code), details as Details, String(message), Number(exitCode))
}

/** A program's entry in the response of `programs`. Times are RFC 3339. */
export interface ProgramReport {
  readonly space: string
  readonly participant: string
  readonly state: string
  readonly since: string
  /** Failures in the last ten minutes. */
  readonly count: number
  readonly lastError?: string
  readonly nextTry?: string
}

/** Reports of `meup up`, by participant. */
export type ProgramReports = ReadonlyMap<string, ProgramReport>

/** Reports of this folder's `meup up` about the programs of a space; empty if the gateway at `url` is a different one. */
export async function readPrograms({ url, space }: Space): Promise<ProgramReports> {
  const directory = dirname(resolve('space.yaml'))
  if (findGatewayProcess(directory)?.url !== url) return new Map()
  const { programs = [] } = await requestControl(directory, 'programs', {}).catch(() => ({ programs: [] }))
  const own = (programs as readonly ProgramReport[]).filter((each) => each.space === space)
  return new Map(own.map((each) => [each.participant, each]))
}

interface Space {
  readonly url: string
  readonly space: string
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
