import {
  brief,
  capabilitySentence,
  describeState,
  explainCapability,
  findCapabilityWarnings,
  formatCapabilities,
  formatCapability,
  type GrantedCapabilities,
  GrantLog,
  getGrantedCapabilities,
  grantKinds,
  type LoggedGrant,
  onOneLine,
} from '@meup/folds'
import { type AnyEnvelope, type Capability, Kind, omitUndefined, ProtocolError } from '@meup/protocol'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import { parseAttempt, parseCapabilities } from '../lib/capabilities.js'
import {
  type ConnectionFlags,
  createHttpClient,
  mustKnow,
  withConnection,
  withSpace,
} from '../lib/connection.js'
import { checkNames } from '../lib/known-names.js'
import { findByPrefix, parseCount } from '../lib/options.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { type PeriodFlags, parseExpiry, readPeriod } from '../lib/times.js'
import { formatTrustEvent } from '../render/conversation.js'

export function addCaps(program: Command): void {
  const group = program
    .command('caps')
    .description('show, explain, give and take back capabilities, and see what was refused')
    .addHelpText(
      'after',
      `\nA capability is a kind, such as chat or 'mcp.*', or as in space.yaml: '{ tool: "files/*" }'`,
    )
  withConnection(
    group.command('ls', { isDefault: true }).alias('list'),
    'print participants as JSON, one a line, with the exact capabilities',
  )
    .description('say who may do what, and who granted it; so does meup caps alone')
    .argument('[participant]', 'who')
    .action(listCapabilities)
  withConnection(group.command('explain'), 'print one JSON object')
    .description('say which capability lets a participant send something, or what would')
    .argument('<participant>', 'who')
    .argument('<what...>', 'a kind, a kind and whom or which tool it is for, or an envelope as JSON')
    .addHelpText(
      'after',
      '\nExits with 7 when it may not.\nmeup caps explain ana mcp.request files/edit_file\nmeup caps explain ana \'{"kind":"chat","to":["ben"]}\'',
    )
    .action(explainAttempt)
  withConnection(group.command('grant'), 'print the grant as one JSON object')
    .description('grant a participant what you hold; prints the id of the grant')
    .argument('<participant>', 'to whom')
    .argument('<capability...>', 'kinds, JSON, or YAML as in space.yaml')
    .option('--for <duration>', 'for so long, such as 1h')
    .option('--until <time>', 'until then, such as friday or 2026-01-02T03:04:05Z')
    .option('--reason <text>', 'why, for everyone to read')
    .action(grantCapabilities)
  withConnection(group.command('revoke'), 'print the revocation as one JSON envelope')
    .description('revoke a grant, or every grant to a participant that these capabilities cover')
    .argument('<grant>', 'its id or how that begins, or a participant')
    .argument('[capability...]', 'what the participant is to lose')
    .option('--reason <text>', 'why, for everyone to read')
    .allowUnknownOption() // Ids may begin with a dash.
    .action(revokeCapabilities)
  withConnection(group.command('log'))
    .description('show what was refused, granted, revoked; who was invited, kicked, paused')
    .option('--participant <participant>', 'only what concerns this one')
    .option('--since <time>', 'only from then on, such as tuesday, 2026-01-02 or 1h')
    .option('--until <time>', 'only before then')
    .option('--limit <count>', 'only the last ones, up to this number', '100')
    .action(async ({ limit, ...flags }: LogFlags & { limit: string }) => {
      const maxDecisions = parseCount(limit, '--limit')
      await printTrustLog(maxDecisions, flags)
    })
}

export interface ReasonFlags extends ConnectionFlags {
  readonly reason?: string
}

export interface GrantFlags extends ReasonFlags {
  readonly for?: string
  readonly until?: string
}

async function listCapabilities(participant: string | undefined, flags: ConnectionFlags): Promise<void> {
  const { participants } = await createHttpClient(flags).readParticipants()
  if (participant !== undefined) mustKnow({ participants }, [participant])
  const all = getGrantedCapabilities(participants, await readGrants(flags), Date.now())
  const wanted = all.filter(({ id }) => participant === undefined || id === participant)
  if (flags.json) for (const each of wanted) printJson<JsonOf<'caps ls'>>(each)
  else for (const line of wanted.flatMap(capabilityLines)) print(line)
}

/**
 * `meup caps explain`: prints whether a participant may send an envelope, and by which capability, or the one that it lacks.
 */
async function explainAttempt(
  participant: string,
  words: readonly string[],
  flags: ConnectionFlags,
): Promise<void> {
  const attempt = await parseAttempt(words)
  const { participants } = await createHttpClient(flags).readParticipants()
  mustKnow({ participants }, [participant])
  const all = getGrantedCapabilities(participants, await readGrants(flags), Date.now())
  for (const granted of all.filter(({ id }) => id === participant)) {
    const { isAllowed, sentences, missing } = explainCapability(granted, attempt)
    const { kicked, paused } = granted
    if (!isAllowed) process.exitCode = exitCodes.rejected
    const all = [
      ...sentences,
      ...(kicked ? [`${kicked.by} has kicked it: until it is invited again, it may not come in.`] : []),
      ...(paused ? [`${paused.by} has paused it: until it is resumed, it may only answer.`] : []),
    ]
    if (flags.json) {
      printJson<JsonOf<'caps explain'>>({
        participant,
        allowed: isAllowed,
        sentences: all,
        ...(missing && { missing }),
      })
      return
    }
    for (const sentence of all) print(sentence)
    if (missing === undefined) return
    const capability = formatCapability(missing)
    const word = typeof missing === 'string' ? capability : `'${capability.replaceAll("'", "'\\''")}'`
    print(
      `${onOneLine(capability)} would allow it. Add it in space.yaml, or: meup caps grant ${participant} ${onOneLine(word)}`,
    )
    for (const warning of findCapabilityWarnings([attempt.kind], [])) printNotice(`warning: ${warning}`)
  }
}

async function grantCapabilities(
  recipient: string,
  words: readonly string[],
  flags: GrantFlags,
): Promise<void> {
  const capabilities = await parseCapabilities(words)
  const terms = buildTerms(flags)
  await withSpace(flags, async (space) => {
    mustKnow(space, [recipient])
    const ids = space.participants.map(({ id }) => id)
    for (const warning of findCapabilityWarnings(capabilities, ids)) printNotice(`warning: ${warning}`)
    const grant = await space.grant(recipient, capabilities, terms)
    if (flags.json) return void printJson<JsonOf<'caps grant'>>(grant)
    print(grant.id)
    printNotice(`meup caps revoke ${grant.id} takes it back`)
  })
}

/** `meup caps revoke`: revokes a grant by its id, or by recipient and capabilities. */
async function revokeCapabilities(
  idOrRecipient: string,
  words: readonly string[],
  flags: ReasonFlags,
): Promise<void> {
  const what =
    words.length === 0
      ? await findGrant(idOrRecipient, flags)
      : { recipient: idOrRecipient, capabilities: await parseCapabilities(words) }
  await withSpace(flags, async (space) => {
    const { recipient } = what
    const revoked = await space.revoke(what, flags.reason)
    if (flags.json) return void printJson(revoked)
    printNotice(
      `${recipient} no longer has it: ${'id' in what ? what.id : formatCapabilities(what.capabilities)}`,
    )
  })
}

/** Expiry and reason of a grant, from the flags. */
export const buildTerms = ({ reason, ...flags }: Omit<GrantFlags, keyof ConnectionFlags>) => {
  const expiresAt = parseExpiry(flags)
  return omitUndefined({ expiresAt, reason })
}

export async function readGrants(flags: ConnectionFlags): Promise<GrantLog> {
  const log = new GrantLog()
  for await (const envelope of createHttpClient(flags).readLog({ kind: grantKinds })) log.apply(envelope)
  return log
}

async function findGrant(start: string, flags: ConnectionFlags): Promise<LoggedGrant> {
  const grant = findByPrefix((await readGrants(flags)).list(Date.now()), start, 'grant')
  if (grant !== undefined) return grant
  const message = `no grant ${start} is in force (see meup caps ls); after a participant, name what it is to lose`
  throw new ProtocolError('not_found', message)
}

/** Describes a participant's capabilities, with the origin of each list. */
function capabilityLines(granted: GrantedCapabilities): string[] {
  const { id, configured, grants, others } = granted
  const state = describeState(granted, Date.now())
  const line = (capabilities: readonly Capability[], origin: string): string[] =>
    capabilities.length === 0
      ? []
      : [`${id} may ${capabilities.map(capabilitySentence).join('; ')} (${origin})`]
  const lines = [
    ...line(configured, 'configured'),
    ...grants.flatMap((grant) => line(grant.capabilities, grantText(grant))),
    ...line(others, 'of unknown origin'),
  ]
  return [
    ...(lines.length > 0 ? lines : [`${id} may do nothing but answer`]),
    ...(state.name === 'here' || state.name === 'away' ? [] : [`${id}: ${state.text}`]),
  ]
}

function grantText({ id, grantor, expiresAt, reason }: LoggedGrant): string {
  const until = expiresAt === undefined ? '' : ` until ${expiresAt}`
  return `granted by ${grantor}${until}, ${id}${reason ? `: ${brief(reason, 200)}` : ''}`
}

interface LogFlags extends ConnectionFlags, PeriodFlags {
  readonly participant?: string
}

const kinds: readonly string[] = [
  Kind.systemDecision,
  Kind.capabilityGrant,
  Kind.capabilityRevoke,
  Kind.capabilityGrantAck,
  Kind.spaceInvite,
  Kind.spaceKick,
  Kind.participantPause,
  Kind.participantResume,
]

/** `meup caps log`: prints the last `limit` decisions about rights and participants, in log order. */
async function printTrustLog(limit: number, { participant, ...flags }: LogFlags): Promise<void> {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = readPeriod(flags)
  const http = createHttpClient(flags)
  const found: AnyEnvelope[] = []
  for await (const envelope of http.readLog({ kind: kinds, order: 'desc' })) {
    const at = Date.parse(envelope.ts)
    const isWanted = participant === undefined || concernedBy(envelope).includes(participant)
    if (at >= since && at < until && isWanted) found.push(envelope)
    if (found.length === limit || at < since) break
  }
  if (found.length === 0 && participant !== undefined) await checkNames(http, { from: [participant] })
  for (const envelope of found.reverse()) {
    if (flags.json) printJson(envelope)
    else print(formatTrustEvent(envelope))
  }
}

/** The participants that an envelope concerns: sender, addressees and targets. */
function concernedBy({ from, to = [], payload }: AnyEnvelope): unknown[] {
  const { recipient, participantId } = payload as { recipient?: unknown; participantId?: unknown }
  return [from, ...to, recipient, participantId]
}
