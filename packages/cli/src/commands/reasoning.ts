import { reasoningCommand } from '@meup/folds'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { getStdoutStyle, print, printJson, printNotice } from '../lib/output.js'
import { findLatestAnswerer, readRequestedTurns } from '../lib/turns.js'

export function addReasoning(program: Command): void {
  withConnection(program.command('reasoning'), 'print turns as JSON, one a line')
    .description('show why an agent used its tools: in its latest turn, in the turn with a number, or in all')
    .argument('[turn]', 'a number, or all', '')
    .option('--thread <agent>', 'whose turns (default: of who answered last)')
    .action(printReasoning)
}

interface ReasoningFlags extends ConnectionFlags {
  readonly thread?: string
}

/** `meup reasoning [number|all]`: prints why an agent used its tools. */
async function printReasoning(argument: string, { thread, ...flags }: ReasoningFlags): Promise<void> {
  const http = createHttpClient(flags)
  const agent = thread ?? (await findLatestAnswerer(http))
  if (agent === undefined) throw new UsageError('unnamed_agent', { option: '--thread <agent>' })
  const turns = await readRequestedTurns(http, agent, argument)
  const isMissing = turns.length === 0 && argument !== '' && argument !== 'all'
  if (isMissing) process.exitCode = exitCodes.error
  if (flags.json && !isMissing) {
    turns.forEach(printJson)
    return
  }
  const lines = reasoningCommand(argument, { turns, isActive: thread === undefined }, getStdoutStyle())
  lines.forEach(isMissing ? printNotice : print)
}
