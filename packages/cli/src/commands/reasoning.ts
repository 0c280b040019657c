import type { Command } from 'commander'
import { withConnection } from '../connection.js'
import type { ReasoningFlags } from '../reasoning/print-reasoning.js'

/** `meup reasoning [number|all]`. What it needs is loaded when it runs. */
export function addReasoning(program: Command): void {
  withConnection(program.command('reasoning'), 'print turns as JSON, one a line')
    .description('show why an agent used its tools: in its latest turn, in the turn with a number, or in all')
    .argument('[turn]', 'a number, or all', '')
    .option('--thread <agent>', 'whose turns (default: of who answered last)')
    .action(async (turn: string, flags: ReasoningFlags) => {
      const { printReasoning } = await import('../reasoning/print-reasoning.js')
      await printReasoning(turn, flags)
    })
}
