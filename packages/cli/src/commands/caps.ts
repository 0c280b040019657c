import type { Command } from 'commander'
import { type ConnectionFlags, withConnection } from '../connection.js'
import type { GrantFlags, ReasonFlags } from '../trust/caps.js'
import type { LogFlags } from '../trust/trust-log.js'
import { count } from './count.js'

/** `meup caps …`. What they need is loaded when they run. */
export function addCaps(program: Command): void {
  const group = program
    .command('caps')
    .description('show, give and take back capabilities, and see what was refused')
    .addHelpText(
      'after',
      `\nA capability is a kind, such as chat or 'mcp.*', or JSON: '{"kind":"mcp.request","to":"files"}'`,
    )
  withConnection(group.command('ls').alias('list'), 'print participants as JSON, one a line')
    .description('show who holds what, and who granted it')
    .argument('[participant]', 'who')
    .action(async (participant: string | undefined, flags: ConnectionFlags) => {
      const { listCapabilities } = await import('../trust/caps.js')
      await listCapabilities(participant, flags)
    })
  withConnection(group.command('grant'), 'print the grant as one JSON object')
    .description('give somebody what you hold; prints the id of the grant')
    .argument('<participant>', 'to whom')
    .argument('<capability...>', 'kinds, or JSON')
    .option('--for <time>', 'for so long, such as 1h')
    .option('--until <time>', 'until then, such as 2026-01-02T03:04:05Z')
    .option('--reason <text>', 'why, for everyone to read')
    .action(async (participant: string, capabilities: string[], flags: GrantFlags) => {
      const { grantCapabilities } = await import('../trust/caps.js')
      await grantCapabilities(participant, capabilities, flags)
    })
  withConnection(group.command('revoke'), 'print the revocation as one JSON envelope')
    .description('take back a grant, or every grant to somebody that these capabilities cover')
    .argument('<grant>', 'its id or how that begins, or a participant')
    .argument('[capability...]', 'what the participant is to lose')
    .option('--reason <text>', 'why, for everyone to read')
    .allowUnknownOption() // Ids may begin with a dash.
    .action(async (grant: string, capabilities: string[], flags: ReasonFlags) => {
      const { revokeCapabilities } = await import('../trust/caps.js')
      await revokeCapabilities(grant, capabilities, flags)
    })
  withConnection(group.command('log'))
    .description('show what was refused, granted, revoked; who was invited, kicked, paused')
    .option('--participant <participant>', 'only what concerns this one')
    .option('--since <time>', 'only from then on, or from so long ago, such as 1h')
    .option('--until <time>', 'only before then')
    .option('--limit <count>', 'only the last so many', '100')
    .action(async ({ limit, ...flags }: LogFlags & { limit: string }) => {
      const most = count(limit, '--limit')
      const { printTrustLog } = await import('../trust/trust-log.js')
      await printTrustLog(most, flags)
    })
}
