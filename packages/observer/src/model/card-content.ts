import { Bounded, exactText, type ProposedCall, spellOut } from '@meup/folds'
import { hasOtherParams, readSettings, type Settings } from './arguments.js'
import { type Change, describeChange } from './change.js'

/** Maximum characters of the JSON that a card shows at first; `maxChangeLines`: maximum lines of a change. */
const maxExactChars = 16_000
const maxChangeLines = 200
/** Maximum characters of a tool name for a card without the JSON. */
const maxToolChars = 200

const fitsCard = ({ lines }: Change): boolean => lines.length <= maxChangeLines

/** A box of a card, which shows the request or part of it. */
export type CardPart = 'change' | 'settings' | 'exact'

/** How a card shows a request. */
export interface ProposalSummary {
  readonly change: Change | undefined
  readonly settings: Settings | undefined
  /** Whether the change or the settings show the complete request, so that the JSON may be collapsed. */
  readonly isAll: boolean
  /** Boxes that the reader must scroll to the end before approval. */
  readonly needed: readonly CardPart[]
}

/** Summarizes the payload of a request or proposal. */
export function summarizeProposal(payload: Readonly<Record<string, unknown>>): ProposalSummary {
  const change = describeChange(payload)
  const settings = change === undefined ? readSettings(payload) : undefined
  const { name } = (payload.params ?? {}) as { readonly name?: unknown }
  // A disguised or long name could be mistaken for another tool, so the exact JSON is shown.
  const isPlainCall =
    payload.method === 'tools/call' &&
    typeof name === 'string' &&
    name.length <= maxToolChars &&
    spellOut(name) === name &&
    name.trim() === name
  const saysAll = settings !== undefined && !hasOtherParams(payload)
  const isAll = isPlainCall && (saysAll || change?.isAll === true)
  const needed: CardPart[] = [
    ...(change !== undefined && change.lines.length > 0 ? (['change'] as const) : []),
    ...(settings === undefined ? [] : (['settings'] as const)),
    ...(isAll ? [] : (['exact'] as const)),
  ]
  return { change, settings, isAll, needed }
}

/** The request that a card shows, complete or cut. */
export interface CardContent extends ProposalSummary {
  /** The exact JSON, with invisible characters escaped. */
  readonly exact: string
  /** Characters (UTF-16 units) of the complete request. */
  readonly chars: number
  /** Whether the card shows the complete request, as change, settings or JSON. Otherwise it cannot be approved. */
  readonly isApprovable: boolean
  /** Whether a box is truncated until the reader asks for all of it. */
  readonly isCut: boolean
}

/** Describes how a card shows a request. `showsAll`: the reader has asked for the complete request. */
export function describeCard(
  payload: Readonly<Record<string, unknown>>,
  call: ProposedCall,
  showsAll: boolean,
): CardContent {
  const summary = summarizeProposal(payload)
  const { change, isAll } = summary
  const { text: exact, isWhole: fits, chars } = exactText(call, showsAll ? undefined : maxExactChars)
  const changeFits = showsAll || change === undefined || fitsCard(change)
  return {
    ...summary,
    exact,
    chars,
    isApprovable: (fits || isAll) && changeFits,
    isCut: !showsAll && (!fits || !changeFits),
  }
}

/** Maximum number of remembered proposals. */
const maxProposals = 10_000

/** Which boxes of each proposal the reader has seen, in any view. If the request's length changes, they count as unseen. */
export class SeenParts {
  readonly #seen = new Bounded<ReadonlySet<string>>(maxProposals)

  /** Records that a box was shown to its end. `chars`: length of the complete request. Returns `true` if that is new. */
  add(proposal: string, part: CardPart, chars: number): boolean {
    const seen = this.#seen.get(proposal) ?? new Set()
    const name = `${part} ${chars}`
    if (seen.has(name)) return false
    this.#seen.set(proposal, new Set([...seen, name]))
    return true
  }

  hasAll(proposal: string, parts: readonly CardPart[], chars: number): boolean {
    const seen = this.#seen.get(proposal)
    return parts.every((part) => seen?.has(`${part} ${chars}`))
  }
}
