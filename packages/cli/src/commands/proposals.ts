import type { Command } from 'commander'
import { type ConnectionFlags, withConnection } from '../connection.js'
import type { ApproveFlags, RefuseFlags } from '../trust/proposals.js'
import { seconds } from './seconds.js'

/** `meup proposals …`. What they need is loaded when they run. */
export function addProposals(program: Command): void {
  const group = program
    .command('proposals')
    .description('show and decide what participants ask to be done')
    .addHelpText('after', '\nAn id may be cut to its first letters, as long as no other begins so.')
  withConnection(group.command('ls').alias('list'), 'print proposals as JSON, one a line')
    .description('show what waits for a decision')
    .option('--all', 'show what was decided as well, and how it ended')
    .action(async (flags: ConnectionFlags & { all?: boolean }) => {
      const { listProposals } = await import('../trust/proposals.js')
      await listProposals(flags)
    })
  withId(group.command('approve'))
    .description('do what was proposed, and print what it gives back')
    .option('--why <rationale>', 'why, for everyone to read')
    .option('--always', 'also grant the proposer to do the same alone from now on')
    .option('--timeout <seconds>', 'how long to wait for the result', '60')
    .action(async (id: string, { timeout, ...flags }: ApproveFlags & { timeout: string }) => {
      const timeoutMs = 1000 * seconds(timeout, '--timeout')
      const { approveProposal } = await import('../trust/proposals.js')
      await approveProposal(id, timeoutMs, flags)
    })
  withId(group.command('reject'))
    .description('refuse what was proposed')
    .option('--reason <reason>', 'why, in a word', 'disagree')
    .option('--message <text>', 'why, in a sentence')
    .action(async (id: string, flags: RefuseFlags) => {
      const { rejectProposal } = await import('../trust/proposals.js')
      await rejectProposal(id, flags)
    })
  withId(group.command('withdraw'))
    .description('take back what you proposed yourself')
    .option('--reason <reason>', 'why, in a word', 'no longer needed')
    .option('--message <text>', 'why, in a sentence')
    .action(async (id: string, flags: RefuseFlags) => {
      const { withdrawProposal } = await import('../trust/proposals.js')
      await withdrawProposal(id, flags)
    })
}

/** Ids may begin with a dash, and are no options then. */
const withId = (command: Command): Command =>
  withConnection(command, 'print one JSON object')
    .argument('<id>', 'of the proposal, or how it begins')
    .allowUnknownOption()
