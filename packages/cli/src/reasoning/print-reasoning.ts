import { reasoningCommand } from '@meup/folds'
import { type ConnectionFlags, destination } from '../connection.js'
import { exitCodes } from '../exit.js'
import { print, printJson, tell } from '../output.js'
import { styleOfStdout } from '../render/style.js'
import { latestAnswerer, noAnswerer, threadOf, turnsAsked } from './read-turns.js'

export interface ReasoningFlags extends ConnectionFlags {
  readonly thread?: string
}

/** `meup reasoning [number|all]`: why an agent used its tools. */
export async function printReasoning(argument: string, { thread, ...flags }: ReasoningFlags): Promise<void> {
  const at = destination(flags)
  const agent = thread ?? (await latestAnswerer(at))
  if (agent === undefined) throw noAnswerer('--thread <agent>')
  const turns = await turnsAsked(at, threadOf(at.space, agent), argument)
  const isMissing = turns.length === 0 && argument !== '' && argument !== 'all'
  if (isMissing) process.exitCode = exitCodes.error
  if (flags.json && !isMissing) {
    turns.forEach(printJson)
    return
  }
  const lines = reasoningCommand(argument, { turns, isActive: thread === undefined }, styleOfStdout())
  lines.forEach(isMissing ? tell : print)
}
