import { type Capability, imitationsIn, type Limits, type Rate, type RateClass } from '@meup/protocol'
import type { SafetySettings } from '@meup/safety'

export interface ParticipantConfig {
  /** `human`, `agent`, `mcp` or `process`; displayed by clients, and used by views. */
  readonly kind: string
  readonly capabilities: readonly Capability[]
  readonly rates?: Partial<Record<RateClass, Rate>>
  /** Whether a new program that names its session replaces the previous one. Default: `one`; for humans `many`. */
  readonly programs?: 'one' | 'many'
  readonly description?: string
}

/** Whether a configured participant may run several programs at a time [MEUP-5.19]. */
export const programsOf = ({
  kind,
  programs,
}: Pick<ParticipantConfig, 'kind' | 'programs'>): 'one' | 'many' =>
  programs ?? (kind === 'human' ? 'many' : 'one')

/** The operator's configuration of one space. */
export interface SpaceConfig {
  readonly name: string
  readonly participants: Readonly<Record<string, ParticipantConfig>>
  /** Capabilities of participants without their own entry. */
  readonly defaults: { readonly capabilities: readonly Capability[]; readonly programs?: 'many' }
  /** The participant that gets messages without an addressee [MEUP-13.18]; absent = everyone. */
  readonly frontDesk?: string
  /** Set if guests may enter without a token, with their capabilities; absent = a token is required. */
  readonly guest?: { readonly capabilities: readonly Capability[] }
  readonly limits: Limits
  readonly reasoning: {
    /** Whether participants may think in contexts of others. */
    readonly collaborative: boolean
    /** How long an owner may be away before the gateway cancels its open contexts. */
    readonly abandonAfterMs: number
  }
  /** How reasoning, rationales and metadata are masked. */
  readonly safety: SafetySettings
  readonly mcp: { readonly visibility: 'everyone' | 'addressees' }
  /** Envelopes older than this many days are removed from the log; 0 = keep everything. */
  readonly retention: { readonly days: number }
}

/** Throws if a name could be mistaken for another participant or the gateway [MEUP-3.24]. */
export function checkConfigNames({ name, participants }: Pick<SpaceConfig, 'name' | 'participants'>): void {
  for (const [id, imitated] of imitationsIn(Object.keys(participants))) {
    throw new Error(`"${id}" in the space "${name}" could be taken for "${imitated}". Choose another name.`)
  }
}
