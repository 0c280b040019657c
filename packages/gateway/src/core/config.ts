import { type Capability, imitationsIn, type Limits, type Rate, type RateClass } from '@meup/protocol'
import type { SafetySettings } from '@meup/safety'

export interface ParticipantConfig {
  /** `human`, `agent`, `mcp` or `process`; for people and views. */
  readonly kind: string
  readonly capabilities: readonly Capability[]
  readonly rates?: Partial<Record<RateClass, Rate>>
  /** Whether a program that names its session takes over from the one before. Default: `one`, for humans `many`. */
  readonly programs?: 'one' | 'many'
  /** The purpose of the participant. */
  readonly description?: string
}

/** Whether there may be several programs of a configured participant at a time [MEUP-5.19]. */
export const programsOf = ({
  kind,
  programs,
}: Pick<ParticipantConfig, 'kind' | 'programs'>): 'one' | 'many' =>
  programs ?? (kind === 'human' ? 'many' : 'one')

/** What the operator decided about one space. */
export interface SpaceConfig {
  readonly name: string
  readonly participants: Readonly<Record<string, ParticipantConfig>>
  /** What a participant may do of whom nothing else is said. */
  readonly defaults: { readonly capabilities: readonly Capability[]; readonly programs?: 'many' }
  /** The participant that is asked what names nobody [MEUP-13.18]; absent = everyone is. */
  readonly frontDesk?: string
  /** Absent = a token is required. */
  readonly guest?: { readonly capabilities: readonly Capability[] }
  readonly limits: Limits
  readonly reasoning: {
    /** Whether others may think along in somebody's context. */
    readonly collaborative: boolean
    /** How long an owner may be away before the gateway cancels what it left open. */
    readonly abandonAfterMs: number
  }
  /** What may not be seen of reasoning, rationales and metadata. */
  readonly safety: SafetySettings
  readonly mcp: { readonly visibility: 'everyone' | 'addressees' }
  /** Older envelopes are removed from the log; 0 = keep everything. */
  readonly retention: { readonly days: number }
}

/** Throws where one participant could be taken for another, or for the gateway [MEUP-3.24]. */
export function checkNames({ name, participants }: Pick<SpaceConfig, 'name' | 'participants'>): void {
  for (const [id, imitated] of imitationsIn(Object.keys(participants))) {
    throw new Error(`"${id}" in the space "${name}" could be taken for "${imitated}". Choose another name.`)
  }
}
