import { dirname, resolve } from 'node:path'
import { formatNames, requestControl } from '../lib/control-client.js'
import { printJson, printNotice } from '../lib/output.js'

export interface RestartFlags {
  readonly config: string
  readonly json?: boolean
}

/** `meup restart`: restarts programs of this folder's `meup up`. */
export async function restart(names: readonly string[], { config, json }: RestartFlags): Promise<void> {
  const { restarted } = await requestControl(dirname(resolve(config)), 'restart', { names })
  if (json) printJson({ restarted })
  else printNotice(`restarting ${formatNames(restarted)}; meup up reports when it is up`)
}
