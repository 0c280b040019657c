import type { Phase } from '@meup/protocol'
import { isBlank } from '../text.js'
import { anyLabel, phaseOfLabel } from './phases.js'

export interface ParsedStep {
  readonly turn_id: string
  /** From 0. */
  readonly step_number: number
  readonly phase: Phase
  readonly content: string
}

interface Part {
  readonly phase: Phase
  readonly content: string
}

/** Takes what an agent thought apart into steps. Blank text has none. */
export const parseThinking = (turnId: string, text: string): ParsedStep[] =>
  partsOf(text).map(({ phase, content }, index) => ({ turn_id: turnId, step_number: index, phase, content }))

/** The labels decide where there are any, else what each line looks like. */
export function partsOf(text: string): readonly Part[] {
  const parts = anyLabel.test(text) ? byLabels(text) : byLines(text)
  return parts
    .map(({ phase, content }) => ({ phase, content: content.trim() }))
    .filter(({ content }) => !isBlank(content))
}

/** What comes before the first label is thinking. */
function byLabels(text: string): readonly Part[] {
  const [before = '', ...rest] = text.split(anyLabel)
  const parts: Part[] = [{ phase: 'thinking', content: before }]
  for (let at = 0; at < rest.length; at += 2) {
    parts.push({ phase: phaseOfLabel(rest[at] ?? '') ?? 'thinking', content: rest[at + 1] ?? '' })
  }
  return parts
}

const numbered = /^\s*\d+[.)](?!\d)/
const bullet = /^\s*(?:[-*•]\s|・)/
const continued = /^\s+\S/
const announcesPlan = /\b(?:plan|steps)|手順/i
const tellsError = /error|failed|エラー|失敗/i

/** Neighbouring lines of one phase are one step; a blank line belongs to what is before it. */
function byLines(text: string): readonly Part[] {
  const parts: { phase: Phase; content: string }[] = []
  let isPlanned = false
  for (const line of text.split('\n')) {
    const before = parts.at(-1)
    if (isBlank(line)) {
      if (before !== undefined) before.content += `\n${line}`
      continue
    }
    const isBullet = bullet.test(line)
    const goesOn = before?.phase === 'plan' && continued.test(line)
    const phase = phaseOf(line, (isBullet && isPlanned) || (goesOn && !isBullet))
    isPlanned = announcesPlan.test(line) || (isPlanned && (isBullet || goesOn))
    if (before?.phase === phase) before.content += `\n${line}`
    else parts.push({ phase, content: line })
  }
  return parts
}

function phaseOf(line: string, isPlanned: boolean): Phase {
  if (numbered.test(line) || isPlanned) return 'plan'
  return tellsError.test(line) ? 'error' : 'thinking'
}
