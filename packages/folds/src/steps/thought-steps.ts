import { fieldsText, thoughtText } from '../payload-text.js'
import { isBlank, messageOf } from '../text.js'
import { partsOf } from './parse-thinking.js'
import { isPhase } from './phases.js'
import type { StepDraft } from './step.js'

/**
 * The steps of a thought of any kind: one where it tells its phase, else as many as its text looks like. Fields beside the
 * text belong to the last of them; a thought of fields alone is one step.
 */
export function thoughtSteps(payload: Readonly<Record<string, unknown>>): readonly StepDraft[] {
  const { phase } = payload
  if (isPhase(phase))
    return isBlank(thoughtText(payload)) ? [] : [{ phase, content: thoughtText(payload).trim() }]
  const parts = partsOf(messageOf(payload))
  const last = parts.at(-1)
  const more = last === undefined ? thoughtText(payload) : fieldsText(payload)
  if (isBlank(more)) return parts
  if (last === undefined) return [{ phase: 'thinking', content: more }]
  return [...parts.slice(0, -1), { ...last, content: `${last.content}\n${more}` }]
}
