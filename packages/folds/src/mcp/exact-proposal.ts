import { stringifyExact } from '@meup/protocol'
import { indentJson, isExactlyParsed, spellOut } from '../exact-json.js'
import { brief, head } from '../text.js'

/** A proposed call with everything that its approval covers [MEUP-3.11]: addressees and context, how often and until when. */
export interface ProposedCall {
  /** Addressees of the call; absent = everyone. */
  readonly to?: readonly string[] | undefined
  readonly method: string
  readonly params?: unknown
  readonly context?: string | undefined
  readonly usesLeft?: number | undefined
  readonly expiresAt?: string | null | undefined
}

export interface ExactText {
  /** The call as JSON on several lines, unmasked, with invisible characters escaped; a prefix if `isWhole` is false. */
  readonly text: string
  /** `true` if `text` is complete. Otherwise the surface may only offer to reject the proposal. */
  readonly isWhole: boolean
  /** UTF-16 units of the complete call as compact JSON. */
  readonly chars: number
}

/**
 * The text that a person has to see to approve a proposal, the same on every surface. `maxChars`: UTF-16 units that the surface
 * displays at once.
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

/** Maximum characters of the reason and of the tool name next to an exact text. */
const [maxReasonChars, maxToolChars] = [1000, 100]

/** The name of a tool next to an exact text: quoted unless plain, so that it cannot pass for part of that text. */
export const quoteToolName = (tool: string): string =>
  /^[\w./-]{1,100}$/.test(tool) ? tool : JSON.stringify(brief(spellOut(tool), maxToolChars))

/** The reason next to an exact text: quoted, on one line and short, so that it cannot pass for part of that text. */
export function quoteReason(rationale: string | null): string {
  if (rationale === null) return 'no reason given'
  const shown = head(rationale, maxReasonChars)
  return `${spellOut(JSON.stringify(shown))}${shown === rationale ? '' : ' …'}`
}
