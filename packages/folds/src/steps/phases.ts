import type { Phase } from '@meup/protocol'

/** What each phase is called in exports. */
export const phaseLabels: Readonly<Record<Phase, string>> = {
  thinking: '[思考]',
  plan: '[計画]',
  waiting_approval: '[承認待ち]',
  execute: '[実行]',
  error: '[エラー]',
}

const phases = Object.keys(phaseLabels) as readonly Phase[]
const byLabel = new Map(phases.map((phase) => [phaseLabels[phase], phase]))

export const isPhase = (value: unknown): value is Phase =>
  typeof value === 'string' && Object.hasOwn(phaseLabels, value)

/** The phase that a label stands for; `undefined`: it is no label. */
export const phaseOfLabel = (label: string): Phase | undefined => byLabel.get(label)

/** Any label, captured. */
export const anyLabel = /(\[(?:思考|計画|承認待ち|実行|エラー)\])/

/** Phases as bits, so that several of them are one number. */
export const phaseBits = Object.fromEntries(phases.map((phase, place) => [phase, 1 << place])) as Readonly<
  Record<Phase, number>
>
