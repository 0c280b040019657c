import { type Capability, covers, type ParticipantInfo } from '@meup/protocol'
import type { GrantLog, LoggedGrant } from './grant-log.js'

/** What a participant holds, and where it has it from. */
export interface Holdings {
  readonly id: string
  readonly status: ParticipantInfo['status']
  /** By the operator, or by the issuer of its token. */
  readonly configured: readonly Capability[]
  readonly grants: readonly LoggedGrant[]
  /** What it holds beside these: the log does not tell, or not this reader, where from. */
  readonly others: readonly Capability[]
}

/**
 * Sorts what participants hold, which the gateway knows, by what the log tells of it. `now` in milliseconds since the
 * epoch. Of grants of the same the latest is taken to stand.
 */
export function holdingsOf(participants: readonly ParticipantInfo[], log: GrantLog, now: number): Holdings[] {
  const held = new Map(participants.map(({ id, capabilities }) => [id, capabilities]))
  const isPossible = ({ grantor, capabilities, expiresAt }: LoggedGrant): boolean =>
    (expiresAt === undefined || Date.parse(expiresAt) > now) &&
    isBacked(capabilities, held.get(grantor) ?? [])
  const possible = log.list().filter(isPossible)
  return participants.map(({ id, status, capabilities }) => {
    const known = log.configured(id)
    const isKnown = known !== undefined && isStart(known, capabilities)
    const rest = capabilities.slice(isKnown ? known.length : 0)
    const latestFirst = possible.filter(({ recipient }) => recipient === id).reverse()
    const grants = latestFirst.filter((grant) => take(grant.capabilities, rest)).reverse()
    if (isKnown) return { id, status, configured: known, grants, others: rest }
    const [configured, others] = log.isWhole ? [rest, []] : [[], rest]
    return { id, status, configured, grants, others }
  })
}

/** Whoever no longer holds what it gave gave it in vain [MEUP-4.14]. */
const isBacked = (given: readonly Capability[], held: readonly Capability[]): boolean =>
  given.every((one) => held.some((each) => covers([each], [one])))

/** What is configured comes before what is granted. */
const isStart = (start: readonly Capability[], all: readonly Capability[]): boolean =>
  start.length <= all.length && start.every((one, at) => isSame(one, all[at]))

const isSame = (one: Capability, other: Capability | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Takes these out, if all of them are there; says whether they were. */
function take(wanted: readonly Capability[], from: Capability[]): boolean {
  const left = [...from]
  for (const one of wanted) {
    const at = left.findLastIndex((each) => isSame(one, each))
    if (at === -1) return false
    left.splice(at, 1)
  }
  from.splice(0, from.length, ...left)
  return true
}
