import { findCapabilityWarnings } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import type { Command } from 'commander'
import type { JsonOf } from '../json-outputs.js'
import { parseCapabilities } from '../lib/capabilities.js'
import { mustKnow, resolveTarget, withConnection, withSpace } from '../lib/connection.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { parseExpiry, parseTimeSpan } from '../lib/times.js'
import { buildTerms, type GrantFlags, type ReasonFlags } from './caps.js'

/** `meup invite`, `kick`, `pause` and `resume`. */
export function addMembers(program: Command): void {
  const add = (name: string, json: string): Command =>
    withConnection(program.command(name), json).option('--reason <text>', 'why, for everyone to read')
  add('invite', 'print the invitation as one JSON object')
    .description('add a participant to the space, and print its token, which is shown once')
    .argument('<participant>', 'who')
    .argument('<capability...>', 'what it may do: kinds, JSON, or YAML as in space.yaml')
    .option('--for <duration>', 'for so long, such as 1h')
    .option('--until <time>', 'until then, such as friday or 2026-01-02T03:04:05Z')
    .action(inviteParticipant)
  add('kick', 'print the accepted envelope as JSON')
    .description('remove a participant, until you invite it again')
    .argument('<participant>', 'who')
    .option('--for <duration>', 'for so long, such as 1h')
    .action(kickParticipant)
  add('pause', 'print the accepted envelope as JSON')
    .description('keep participants from doing more than answering')
    .argument('<participant...>', 'who')
    .option('--for <duration>', 'for so long, such as 10m')
    .action(pauseParticipants)
  add('resume', 'print the accepted envelope as JSON')
    .description('let paused participants act again')
    .argument('<participant...>', 'who')
    .action(resumeParticipants)
}

interface SpanFlags extends ReasonFlags {
  readonly for?: string
}

async function inviteParticipant(id: string, words: readonly string[], flags: GrantFlags): Promise<void> {
  const capabilities = await parseCapabilities(words)
  const terms = buildTerms(flags)
  const { url, space: name } = resolveTarget(flags)
  await withSpace(flags, async (space) => {
    const ids = space.participants.map((each) => each.id)
    for (const warning of findCapabilityWarnings(capabilities, ids)) printNotice(`warning: ${warning}`)
    const invitation = await space.invite(id, capabilities, terms)
    if (flags.json) return void printJson<JsonOf<'invite'>>(invitation)
    if (invitation.token === undefined)
      return void printNotice(`${id} may come back, with the token that it has`)
    print(invitation.token)
    printNotice(
      `this token is shown once; ${id} enters with MEUP_TOKEN=<token> meup join --url ${url} --space ${name}`,
    )
  })
}

function kickParticipant(id: string, { for: span, reason, ...flags }: SpanFlags): Promise<void> {
  const untilTs = parseExpiry({ for: span })
  return withSpace(flags, async (space) => {
    mustKnow(space, [id])
    const kick = await space.kick(id, omitUndefined({ reason, untilTs }))
    if (flags.json) return void printJson(kick)
    printNotice(`${id} is kept out until ${untilTs ?? 'it is invited again'}`)
  })
}

function pauseParticipants(
  ids: readonly string[],
  { for: span, reason, ...flags }: SpanFlags,
): Promise<void> {
  const timeoutSeconds = span === undefined ? undefined : parseTimeSpan(span, '--for') / 1000
  return withSpace(flags, async (space) => {
    mustKnow(space, ids)
    const pause = await space.pause(ids, omitUndefined({ reason, timeoutSeconds }))
    if (flags.json) printJson(pause)
    else printNotice(`paused; meup resume ${ids.join(' ')} ends that`)
  })
}

function resumeParticipants(ids: readonly string[], { reason, ...flags }: ReasonFlags): Promise<void> {
  return withSpace(flags, async (space) => {
    mustKnow(space, ids)
    const resumption = await space.resume(ids, reason)
    if (flags.json) printJson(resumption)
  })
}
