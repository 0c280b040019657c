import { stringifyExact } from '@meup/protocol'
import { indentJson, isExactlyParsed, spellOut } from '../exact-json.js'
import { brief, head } from '../text.js'

/** All that is approved with a proposal [MEUP-3.11]: the call, whom it goes to, in which context, how often and until when. */
export interface ProposedCall {
  /** Absent: everyone. */
  readonly to?: readonly string[] | undefined
  readonly method: string
  readonly params?: unknown
  readonly context?: string | undefined
  readonly usesLeft?: number | undefined
  readonly expiresAt?: string | null | undefined
}

export interface ExactText {
  /** JSON on many lines, unmasked, with all that would not be seen as its escape; cut where it is not whole. */
  readonly text: string
  /** Whether it is all that is approved. Otherwise the proposal may be rejected here, and not approved. */
  readonly isWhole: boolean
  /** UTF-16 units of all of it, as JSON without blanks. */
  readonly chars: number
}

/**
 * What a person must have seen to approve a proposal, the same wherever that is. `maxChars`: UTF-16 units that the place shows
 * at once.
 */
export function exactText(call: ProposedCall, maxChars = Number.POSITIVE_INFINITY): ExactText {
  const { to, method, params, context, usesLeft = 1, expiresAt } = call
  const terms = {
    to: to ?? 'everyone',
    method,
    ...(context !== undefined && { context }),
    ...(usesLeft > 1 && { uses: usesLeft }),
    ...(typeof expiresAt === 'string' && { expiresAt }),
  }
  const json = stringifyExact({ ...terms, params } as object)
  const text = indentJson(json, maxChars)
  const isCut = text.length > maxChars
  return {
    text: isCut ? head(text, maxChars) : text,
    isWhole: !isCut && isExactlyParsed(params),
    chars: json.length,
  }
}

/** Characters of the reason and of the name of the tool that stand beside an exact text. */
const [maxReasonChars, maxToolChars] = [1000, 100]

/** The name of a tool beside an exact text: in quotes, unless it is a plain one, so that it does not pass for that text. */
export const quoteToolName = (tool: string): string =>
  /^[\w./-]{1,100}$/.test(tool) ? tool : JSON.stringify(brief(spellOut(tool), maxToolChars))

/** The reason of a proposal beside its exact text: in quotes, on one line and short, so that it does not pass for that text. */
export function quoteReason(rationale: string | null): string {
  if (rationale === null) return 'no reason given'
  const shown = head(rationale, maxReasonChars)
  return `${spellOut(JSON.stringify(shown))}${shown === rationale ? '' : ' …'}`
}
