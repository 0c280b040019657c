import { dirname, resolve } from 'node:path'
import { Failure } from '../failure/failure.js'
import { type ControlAnswer, requestControl } from '../lib/control-client.js'
import { UsageError } from '../lib/exit.js'
import { printJson, printNotice } from '../lib/output.js'

export interface RestartFlags {
  readonly config: string
  readonly json?: boolean
}

/** `meup restart`: has the `meup up` of this folder start programs anew. */
export async function restart(names: readonly string[], { config, json }: RestartFlags): Promise<void> {
  const { error, restarted } = await requestControl(dirname(resolve(config)), 'restart', { names })
  if (error !== undefined) throw explainRefusal(error)
  if (json) printJson({ restarted })
  else printNotice(`restarting ${list(restarted)}; meup up reports when it is up`)
}

function explainRefusal(error: NonNullable<ControlAnswer['error']>): Error {
  const { code, name, kind, meant, programs } = error
  const text = String(name)
  switch (code) {
    case 'unknown':
      return meant === undefined
        ? new UsageError(`nobody is called ${text}; programs here: ${list(programs)}`)
        : new Failure('unknown_participant', { name: text, meant: String(meant) })
    case 'no_program':
      return new Failure('no_program', { name: text, kind: String(kind), programs: list(programs) })
    case 'ambiguous':
      return new UsageError(`${text} is a program of several spaces; choose one of ${list(programs)}`)
    case 'no_token':
      return new UsageError(
        `${text} is not started, because its token is revoked; meup token create ${text} makes one`,
      )
    case 'starting':
      return new Error('meup up has not started its programs yet; try again')
    default:
      return new Error(`meup up refused to restart ${text}: ${code}`)
  }
}

const list = (labels: unknown): string =>
  Array.isArray(labels) && labels.length > 0 ? labels.join(', ') : 'none'
