import { LogError, type RebuiltProjection, rebuildProjections } from '@meup/gateway'
import { defaultSafety } from '@meup/safety'
import { printable } from '@meup/views'
import { readConfig } from '../config/load.js'
import { UsageError } from '../exit.js'
import { print, printJson } from '../output.js'

export interface RebuildFlags {
  readonly config: string
  readonly json?: boolean
}

/** `meup audit rebuild`: turns and steps anew from the log, in the file that the configuration names; without a gateway. */
export async function rebuildAudit({ config: file, json }: RebuildFlags): Promise<void> {
  const { storage, spaces } = readConfig(file).config
  if (storage.kind === 'memory') {
    throw new UsageError('the storage of this space is memory: its turns and steps end with the gateway')
  }
  const safetyOf = (name: string) =>
    spaces.find(({ config }) => config.name === name)?.config.safety ?? defaultSafety
  try {
    const rebuilt = await rebuildProjections({ path: storage.path, safetyOf })
    if (json) printJson({ spaces: rebuilt })
    else for (const each of rebuilt) print(printable(lineOf(each)))
  } catch (error) {
    if (!(error instanceof LogError) || error.code !== 'locked') throw error
    throw new Error(
      `a gateway has ${storage.path} open: stop it, then rebuild; a gateway that runs makes again by itself what it finds damaged`,
      { cause: error },
    )
  }
}

const lineOf = ({ space, envelopes, turns, steps }: RebuiltProjection): string =>
  `${space}: ${envelopes} envelopes, ${turns} turns, ${steps} steps`
