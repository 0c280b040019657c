import type { DecisionPayload } from '@meup/protocol'
import { reasonText } from '../text.js'
import { inlineJson } from './inline-json.js'
import { brief } from './printable.js'

/** Characters of the arguments, and of the rationale. */
const longest = 200

/** What a tool call that was refused was to do, and why, on one line; `''` where the decision is about none. */
export function attemptText({ attemptedArguments, attemptedRationale }: Partial<DecisionPayload>): string {
  if (attemptedArguments === undefined) return ''
  // A text is the beginning of their JSON.
  const isText = typeof attemptedArguments === 'string'
  const parameters = isText ? attemptedArguments : inlineJson(attemptedArguments, longest)
  const reason =
    attemptedRationale === undefined ? reasonText(null) : `"${brief(attemptedRationale, longest)}"`
  return `${brief(parameters, longest)} — ${reason}`
}
