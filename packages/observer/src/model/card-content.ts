import { Bounded, exactText, type ProposedCall, spellOut } from '@meup/folds'
import { hasAsides, readSettings, type Settings } from './arguments.js'
import { type Change, describeChange } from './change.js'

/** Characters of the exact text, and lines of a change, that a card shows at once. */
const maxExactChars = 16_000
const maxChangeLines = 200
/** Characters of a tool's name on a card. */
const maxToolChars = 200

const fitsCard = ({ lines }: Change): boolean => lines.length <= maxChangeLines

/** A box of a card with a part of the request. */
export type CardPart = 'change' | 'settings' | 'exact'

/** A request in the form for a card. */
export interface ProposalSummary {
  readonly change: Change | undefined
  readonly settings: Settings | undefined
  /** Whether the change or the settings represent the complete request, so that the JSON may be folded. */
  readonly isAll: boolean
  /** Boxes that have to be scrolled to the end before approval. */
  readonly needed: readonly CardPart[]
}

/** `payload`: of a request or proposal. */
export function summarizeProposal(payload: Readonly<Record<string, unknown>>): ProposalSummary {
  const change = describeChange(payload)
  const settings = change === undefined ? readSettings(payload) : undefined
  const { name } = (payload.params ?? {}) as { readonly name?: unknown }
  // A disguised or long name could pass for another tool, so the exact JSON is needed.
  const isPlainCall =
    payload.method === 'tools/call' &&
    typeof name === 'string' &&
    name.length <= maxToolChars &&
    spellOut(name) === name &&
    name.trim() === name
  const saysAll = settings !== undefined && !hasAsides(payload)
  const isAll = isPlainCall && (saysAll || change?.isAll === true)
  const needed: CardPart[] = [
    ...(change !== undefined && change.lines.length > 0 ? (['change'] as const) : []),
    ...(settings === undefined ? [] : (['settings'] as const)),
    ...(isAll ? [] : (['exact'] as const)),
  ]
  return { change, settings, isAll, needed }
}

/** The content of a card. */
export interface CardContent extends ProposalSummary {
  /** The exact JSON, with invisible characters escaped. */
  readonly exact: string
  /** UTF-16 units of the complete request. */
  readonly chars: number
  /** Whether the card shows the complete request, as change, settings or JSON: only then it can be approved. */
  readonly isApprovable: boolean
  /** Whether a part is cut until the reader requests all of it. */
  readonly isCut: boolean
}

/** `showsAll`: the reader has requested the complete text. */
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

/** Remembered proposals. */
const maxProposals = 10_000

/** The parts of each proposal that this reader has seen, in any view. A changed length counts as unseen. */
export class SeenParts {
  readonly #seen = new Bounded<ReadonlySet<string>>(maxProposals)

  /**
   * Records that a part was drawn completely, with its end in view. `chars`: of the complete request. Returns whether that is
   * new.
   */
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
