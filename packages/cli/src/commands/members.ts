import type { Command } from 'commander'
import { withConnection } from '../connection.js'
import type { GrantFlags, ReasonFlags } from '../trust/caps.js'
import type { SpanFlags } from '../trust/members.js'

/** `meup invite`, `kick`, `pause` and `resume`. What they need is loaded when they run. */
export function addMembers(program: Command): void {
  const add = (name: string, json: string): Command =>
    withConnection(program.command(name), json).option('--reason <text>', 'why, for everyone to read')
  add('invite', 'print the invitation as one JSON object')
    .description('let somebody new into the space, and print its token, which is shown once')
    .argument('<participant>', 'who')
    .argument('<capability...>', 'what it may do: kinds, or JSON')
    .option('--for <time>', 'for so long, such as 1h')
    .option('--until <time>', 'until then, such as 2026-01-02T03:04:05Z')
    .action(async (participant: string, capabilities: string[], flags: GrantFlags) => {
      const { inviteParticipant } = await import('../trust/members.js')
      await inviteParticipant(participant, capabilities, flags)
    })
  add('kick', 'print the accepted envelope as JSON')
    .description('put somebody out, until you invite it again')
    .argument('<participant>', 'who')
    .option('--for <time>', 'for so long, such as 1h')
    .action(async (participant: string, flags: SpanFlags) => {
      const { kickParticipant } = await import('../trust/members.js')
      await kickParticipant(participant, flags)
    })
  add('pause', 'print the accepted envelope as JSON')
    .description('keep participants from doing more than answering')
    .argument('<participant...>', 'who')
    .option('--for <time>', 'for so long, such as 10m')
    .action(async (participants: string[], flags: SpanFlags) => {
      const { pauseParticipants } = await import('../trust/members.js')
      await pauseParticipants(participants, flags)
    })
  add('resume', 'print the accepted envelope as JSON')
    .description('let paused participants go on')
    .argument('<participant...>', 'who')
    .action(async (participants: string[], flags: ReasonFlags) => {
      const { resumeParticipants } = await import('../trust/members.js')
      await resumeParticipants(participants, flags)
    })
}
