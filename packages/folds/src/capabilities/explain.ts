import { type Capability, compileCapabilities, getKindRule, Kind, type Subject } from '@meup/protocol'
import type { GrantedCapabilities, LoggedGrant } from '../space/grants.js'
import { getNarrowestCapability } from './narrowest.js'
import { capabilitySentence } from './sentence.js'

export interface CapabilityExplanation {
  readonly isAllowed: boolean
  readonly sentences: readonly string[]
  /** The narrowest capability that would allow the envelope, if there is one. */
  readonly missing?: Capability
}

/** A capability with its origin: the grant that gave it, or `origin` in words. */
interface HeldCapability {
  readonly capability: Capability
  readonly grant?: LoggedGrant
  readonly origin: string
}

/** Maximum number of capabilities that an explanation lists. */
const maxListed = 5

/**
 * Explains which capability lets a participant send an envelope, or what it holds for that kind instead. The gateway decides
 * about other rights, such as those of the owner of a context.
 */
export function explainCapability(granted: GrantedCapabilities, attempt: Subject): CapabilityExplanation {
  const { id } = granted
  const { kind } = attempt
  const rule = getKindRule(kind)
  if (rule?.gateway) return { isAllowed: false, sentences: [`Only the gateway sends ${kind}.`] }
  if (rule?.free) return { isAllowed: true, sentences: [`${kind} needs no capability.`] }

  const missing = getNarrowestCapability(attempt)
  const deed = capabilitySentence(missing)
  const held = listHeld(granted)
  const decides = held.find(({ capability }) => isAllowed(capability, attempt))
  if (decides !== undefined) {
    const because = `${originText(decides)} lets it ${capabilitySentence(decides.capability)}`
    return { isAllowed: true, sentences: [`${id} may ${deed}: ${because}.`] }
  }
  const near = held.filter(({ capability }) => isAllowed(toKind(capability), { kind, payload: {} }))
  const mayPropose =
    kind === Kind.mcpRequest &&
    held.some(({ capability }) => isAllowed(capability, { ...attempt, kind: Kind.mcpProposal }))
  const exemption = exemptions[kind]
  return {
    isAllowed: false,
    missing,
    sentences: [
      `${id} may not ${deed}.`,
      near.length === 0
        ? `It has no capability for ${kind}.`
        : `Its capabilities for ${kind} do not cover that: ${nearText(near)}.`,
      ...(mayPropose ? ['It may propose it for approval.'] : []),
      ...(exemption === undefined ? [] : [`Without a capability it may ${exemption}.`]),
    ],
  }
}

/** Acts that need no capability, because they concern requests to the sender, its own grants, or its own runs [MEUP-4.1]. */
const exemptions: Readonly<Record<string, string>> = {
  [Kind.mcpResponse]: 'answer a request that is addressed to it',
  [Kind.capabilityRevoke]: 'revoke what it granted itself',
  [Kind.observeVisibility]: 'hide and show its own runs',
}

/** Lists the capabilities of a participant in the order in which the gateway checks them. */
const listHeld = ({ configured, grants, others }: GrantedCapabilities): HeldCapability[] => [
  ...configured.map((capability) => ({ capability, origin: 'its configuration' })),
  ...grants.flatMap((grant) =>
    grant.capabilities.map((capability) => ({ capability, grant, origin: 'a grant' })),
  ),
  ...others.map((capability) => ({ capability, origin: 'a grant that you may not see' })),
]

const isAllowed = (capability: Capability, attempt: Subject): boolean =>
  compileCapabilities([capability]).allows(attempt).allowed

/** Returns the capability without its conditions, such as addressees and arguments. */
function toKind(capability: Capability): Capability {
  if (typeof capability === 'string') return capability
  return 'kind' in capability ? { kind: capability.kind } : Kind.mcpRequest
}

function originText({ grant, origin }: HeldCapability): string {
  if (grant === undefined) return origin
  const until = grant.expiresAt === undefined ? '' : ` until ${grant.expiresAt}`
  return `the grant ${grant.id} of ${grant.grantor}${until}`
}

function nearText(near: readonly HeldCapability[]): string {
  const sentences = near.slice(0, maxListed).map(({ capability }) => capabilitySentence(capability))
  const more = near.length - sentences.length
  return [...sentences, ...(more > 0 ? [`${more} more`] : [])].join('; ')
}
