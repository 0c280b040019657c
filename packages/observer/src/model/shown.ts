import { Bounded, exactText, type ProposedCall, spellOut } from '@meup/folds'
import { hasAsides, readSettings, type Settings } from './arguments.js'
import { type Change, describeChange } from './change.js'

/** Characters of what is sent, and lines of a change, that a card shows at once. */
const maxExactChars = 16_000
const maxChangeLines = 200
/** Characters of the name of a tool that a card shows. */
const maxToolChars = 200

const fitsCard = ({ lines }: Change): boolean => lines.length <= maxChangeLines

/** A box of a card with what is asked for. */
export type CardPart = 'change' | 'settings' | 'exact'

/** What is asked for, as a card shows it. */
export interface ProposalSummary {
  readonly change: Change | undefined
  readonly settings: Settings | undefined
  /** Whether the change or the settings say all that is sent, so that the JSON may stay folded. */
  readonly isAll: boolean
  /** Boxes to be seen to their ends before the proposal can be approved. */
  readonly needed: readonly CardPart[]
}

/** `payload`: of a request or proposal. */
export function summarize(payload: Readonly<Record<string, unknown>>): ProposalSummary {
  const change = describeChange(payload)
  const settings = change === undefined ? readSettings(payload) : undefined
  const { name } = (payload.params ?? {}) as { readonly name?: unknown }
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

/** How a card shows a proposal. */
export interface CardContent extends ProposalSummary {
  /** What is sent, as JSON with all that would not be seen spelled out. */
  readonly exact: string
  /** UTF-16 units of all that is sent. */
  readonly chars: number
  /** Whether change and JSON are as long as they are: what is cut cannot be approved. */
  readonly isWhole: boolean
  /** Whether a part is cut until its reader asks for all of it. */
  readonly isCut: boolean
}

/** `showsAll`: its reader has asked for all of it, however long. */
export function describeCard(
  payload: Readonly<Record<string, unknown>>,
  call: ProposedCall,
  showsAll: boolean,
): CardContent {
  const summary = summarize(payload)
  const { change, isAll } = summary
  const { text: exact, isWhole: fits, chars } = exactText(call, showsAll ? undefined : maxExactChars)
  const changeFits = showsAll || change === undefined || fitsCard(change)
  return { ...summary, exact, chars, isWhole: (fits || isAll) && changeFits, isCut: !fits || !changeFits }
}

/** Proposals whose parts are remembered. */
const maxProposals = 10_000

/** What this reader has seen of each proposal, wherever it was drawn. What has another length now was not seen. */
export class SeenParts {
  readonly #seen = new Bounded<ReadonlySet<string>>(maxProposals)

  /** A part was drawn whole, and its end was in view. `chars`: of all that is sent. Whether that is new. */
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
