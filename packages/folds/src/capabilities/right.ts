import {
  type Capabilities,
  type Capability,
  compileCapabilities,
  correlations,
  type Envelope,
  GUEST,
  Kind,
  PatternError,
} from '@meup/protocol'
import type { Configuration } from '../space/grants.js'
import { brief, onOneLine } from '../text.js'
import { capabilityText } from './sentence.js'

/**
 * Access to the logged configurations, grants and invitations that say which right a call had, limited to those that the reader
 * may read.
 */
export interface RightSources {
  /** The payload of the last `system.space` `configured` before this seq; `undefined` if it is not in the log or unreadable. */
  configurationAt(seq: number): Configuration | undefined
  /**
   * Finds an envelope by id; `undefined` if it is not in the log or unreadable. Only payloads of grants and invitations are
   * used, not those of proposals.
   */
  find(id: string): Pick<Envelope, 'kind' | 'from' | 'payload'> | undefined
}

/** The right that let a call pass [MEUP-4.22]. */
export interface CallRight {
  /** `configured`, or the id of a grant or an invitation. */
  readonly allowedBy: string
  /** The sender of the request, if it fulfils the proposal of another participant. */
  readonly approvedBy?: string
  /**
   * The right of the request's sender, in words: `by space.yaml: files/read_*`, `by ana's grant until 2026-01-02T18:00:00Z`.
   */
  readonly words: string
  /** The capability of the configuration or the grant that allows the call; absent if the reader may not read it. */
  readonly capability?: string
}

/** A right in turns and steps of the HTTP API. */
export interface RightInfo {
  readonly allowed_by?: string
  readonly approved_by?: string
  /** The right in words, from `rightText`. */
  readonly right?: string
}

/** Maximum characters of a capability in a description. */
const maxCapabilityChars = 200

/**
 * Describes the right that let a request pass; `undefined` if its envelope does not name one, as in logs of earlier versions. A
 * grant that the reader may not read is described like a pruned one. `formatTime` formats the end of a grant.
 */
export function describeRight(
  request: Envelope,
  sources: RightSources,
  formatTime: (time: string) => string = onOneLine,
): CallRight | undefined {
  const { allowedBy, from } = request
  if (allowedBy === undefined) return undefined
  const isApproval = correlations(request).some((id) => {
    const proposal = sources.find(id)
    return proposal?.kind === Kind.mcpProposal && proposal.from !== from
  })
  const right =
    allowedBy === 'configured'
      ? describeConfigured(request, sources)
      : describeGrant(request, allowedBy, sources, formatTime)
  return { allowedBy, ...(isApproval && { approvedBy: from }), ...right }
}

/** The right in words: `by ana's grant`, `approved by ana, who may do so by space.yaml: *`. */
export const rightText = ({ approvedBy, words }: CallRight): string =>
  approvedBy === undefined ? words : `approved by ${approvedBy}, who may do so ${words}`

/** Converts a right to its form in the HTTP API. */
export const toRightInfo = (right: CallRight | undefined): RightInfo =>
  right === undefined
    ? {}
    : {
        allowed_by: right.allowedBy,
        ...(right.approvedBy !== undefined && { approved_by: right.approvedBy }),
        right: rightText(right),
      }

type Described = Pick<CallRight, 'words' | 'capability'>

function describeConfigured(request: Envelope, sources: RightSources): Described {
  const configuration = sources.configurationAt(request.seq ?? 0)
  if (configuration === undefined) return { words: 'by space.yaml' }
  const list = configuredFor(request.from, configuration)
  // Participants with a token of an issuer are not in the configuration.
  if (list === undefined) return { words: `by ${request.from}'s token` }
  const capability = findAllowing(request, list)
  return capability === undefined
    ? { words: 'by space.yaml' }
    : { words: `by space.yaml: ${capability}`, capability }
}

/** Finds the first capability of a list that allows a request, as text. */
function findAllowing(request: Envelope, list: readonly Capability[]): string | undefined {
  const { matched } = compile(list)?.allows(request) ?? {}
  const capability = matched === undefined ? undefined : list[matched]
  return capability && brief(capabilityText(capability), maxCapabilityChars)
}

function configuredFor(
  participant: string,
  { participants, guest }: Configuration,
): readonly Capability[] | undefined {
  if (Object.hasOwn(participants, participant)) return participants[participant]?.capabilities
  return participant.startsWith(GUEST) ? guest?.capabilities : undefined
}

function describeGrant(
  request: Envelope,
  id: string,
  sources: RightSources,
  formatTime: (time: string) => string,
): Described {
  const { kind, from, payload } = sources.find(id) ?? {}
  if (kind !== Kind.capabilityGrant && kind !== Kind.spaceInvite) return { words: `by the grant ${id}` }
  const until = typeof payload?.expiresAt === 'string' ? ` until ${formatTime(payload.expiresAt)}` : ''
  const words = `by ${from}'s ${kind === Kind.spaceInvite ? 'invitation' : 'grant'}${until}`
  const list = payload?.capabilities
  const capability = Array.isArray(list) ? findAllowing(request, list as Capability[]) : undefined
  return { words, ...(capability !== undefined && { capability }) }
}

/** Compiled capabilities by their list, because many calls pass by the same list. `null` = cannot be compiled. */
const compiled = new WeakMap<readonly Capability[], Capabilities | null>()

/** Compiles a list of capabilities; `undefined` if this version cannot compile it. */
function compile(list: readonly Capability[]): Capabilities | undefined {
  const known = compiled.get(list)
  if (known !== undefined) return known ?? undefined
  let capabilities: Capabilities | null = null
  try {
    capabilities = compileCapabilities(list)
  } catch (error) {
    // A gateway of another version logged this list: the description omits the capability.
    if (!(error instanceof PatternError)) throw error
  }
  compiled.set(list, capabilities)
  return capabilities ?? undefined
}
