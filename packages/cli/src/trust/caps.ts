import {
  brief,
  type GrantedCapabilities,
  GrantLog,
  getGrantedCapabilities,
  grantKinds,
  type LoggedGrant,
} from '@meup/folds'
import { ProtocolError } from '@meup/protocol'
import { type ConnectionFlags, destination } from '../connection.js'
import { table } from '../operator/table.js'
import { print, printJson, tell } from '../output.js'
import { readLog, readParticipants } from '../reading.js'
import { capabilitiesText, capabilityWarnings, readCapabilities } from './capabilities.js'
import { chosen } from './chosen.js'
import { inside } from './inside.js'
import { endOf } from './terms.js'

export interface ReasonFlags extends ConnectionFlags {
  readonly reason?: string
}

export interface GrantFlags extends ReasonFlags {
  readonly for?: string
  readonly until?: string
}

/** `meup caps ls` */
export async function listCapabilities(
  participant: string | undefined,
  flags: ConnectionFlags,
): Promise<void> {
  const at = destination(flags)
  const log = await readGrants(flags)
  const all = getGrantedCapabilities(await readParticipants(at), log, Date.now())
  const wanted = all.filter(({ id }) => participant === undefined || id === participant)
  if (wanted.length === 0) {
    const known = all.map(({ id }) => id).join(', ')
    throw new ProtocolError('participant_not_found', `the space knows no ${participant}; it knows ${known}`)
  }
  if (flags.json) for (const each of wanted) printJson(each)
  else for (const line of table(wanted.flatMap(rowsOf))) print(line)
}

/** `meup caps grant` */
export function grantCapabilities(
  recipient: string,
  words: readonly string[],
  flags: GrantFlags,
): Promise<void> {
  const capabilities = readCapabilities(words)
  const terms = termsOf(flags)
  for (const warning of capabilityWarnings(capabilities)) tell(`warning: ${warning}`)
  return inside(flags, async (space) => {
    const grant = await space.grant(recipient, capabilities, terms)
    if (flags.json) return void printJson(grant)
    print(grant.id)
    tell(`meup caps revoke ${grant.id} takes it back`)
  })
}

/** `meup caps revoke`: a grant by its id, or by whom it was given to and what it gives. */
export async function revokeCapabilities(
  idOrRecipient: string,
  words: readonly string[],
  flags: ReasonFlags,
): Promise<void> {
  const what =
    words.length === 0
      ? await grantOf(idOrRecipient, flags)
      : { recipient: idOrRecipient, capabilities: readCapabilities(words) }
  await inside(flags, async (space) => {
    const { recipient } = what
    const revoked = await space.revoke(what, flags.reason)
    if (flags.json) return void printJson(revoked)
    tell(`${recipient} no longer has it: ${'id' in what ? what.id : capabilitiesText(what.capabilities)}`)
  })
}

/** What a gift is limited to. */
export const termsOf = ({ reason, ...flags }: Omit<GrantFlags, keyof ConnectionFlags>) => {
  const expiresAt = endOf(flags)
  return { ...(expiresAt !== undefined && { expiresAt }), ...(reason !== undefined && { reason }) }
}

async function readGrants(flags: ConnectionFlags): Promise<GrantLog> {
  const log = new GrantLog()
  for await (const envelope of readLog(destination(flags), { kind: grantKinds.join() })) log.apply(envelope)
  return log
}

async function grantOf(start: string, flags: ConnectionFlags): Promise<LoggedGrant> {
  const grant = chosen((await readGrants(flags)).list(), start, 'grant')
  if (grant !== undefined) return grant
  const message = `no grant ${start} stands (see meup caps ls); after a participant, name what it is to lose`
  throw new ProtocolError('not_found', message)
}

/** Who, where from, the id of the grant, and what. */
function rowsOf({ id, configured, grants, others }: GrantedCapabilities): string[][] {
  const rows = [
    ...(configured.length > 0 ? [['configured', '', capabilitiesText(configured)]] : []),
    ...grants.map((grant) => [`granted by ${grant.grantor}`, grant.id, grantText(grant)]),
    ...(others.length > 0 ? [['of unknown origin', '', capabilitiesText(others)]] : []),
  ]
  return (rows.length > 0 ? rows : [['', '', 'nothing']]).map((row) => [id, ...row])
}

function grantText({ capabilities, expiresAt, reason }: LoggedGrant): string {
  const until = expiresAt === undefined ? '' : ` until ${expiresAt}`
  return `${capabilitiesText(capabilities)}${until}${reason ? ` — ${brief(reason, 200)}` : ''}`
}
