import { type RunUsage, readRunUsage } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { Block, BlockEntry } from './blocks.js'
import type { Sources } from './row.js'
import { hasFailed, isProblem } from './row-content.js'
import { decidedAt } from './trace.js'

type Tokens = RunUsage['tokens']

/** Totals over a question and everything that it caused. */
export interface Totals extends Omit<RunUsage, 'model'> {
  /** Start, in ms of gateway time. */
  readonly from: number
  /** End of the last part; `undefined` while it is running. */
  readonly to: number | undefined
  readonly calls: number
  /** Number of failed calls and commands, thoughts about errors, and refusals. */
  readonly errors: number
  readonly models: readonly string[]
}

const noTokens: Tokens = { input: 0, output: 0, cached: 0, reasoning: 0 }
const nothing: Omit<Totals, 'from' | 'to'> = {
  ...{ tokens: noTokens, cost: undefined, calls: 0, errors: 0, models: [] },
}

interface Counted {
  readonly sources: Sources
  /** Cache of calls, errors, tokens and cost of each block of a question; the caller drops those of changed blocks. */
  readonly totals: WeakMap<Block, Totals>
}

/**
 * Adds up calls, errors, tokens and cost of a question. Blocks (messages, runs, events) already in `totals` are not counted
 * again.
 */
export function countQuestion(
  { blocks }: { readonly blocks: readonly Block[] },
  { totals, sources }: Counted,
): Totals {
  return addTotals(
    blocks.map((block) => {
      const known = totals.get(block) ?? countBlock(block, sources)
      totals.set(block, known)
      return known
    }),
  )
}

function countBlock(block: Block, sources: Sources): Totals {
  const from = Date.parse(block.envelope.ts)
  if (block.type === 'event') return countEntry(block.entry, sources, false)
  if (block.type !== 'context') return { ...nothing, from, to: from }
  const { root, entries } = block
  const view = sources.getContext(root)
  const end = view?.ending?.source.id
  const { payload } = entries.findLast(({ envelope }) => envelope.id === end)?.envelope ?? {}
  const { tokens, cost, model } = readRunUsage(payload?.metadata)
  const models = model === undefined ? [] : [model]
  const isLive = view?.state === 'open' && sources.isGoingOn(root)
  const ended = view?.endedAt ?? entries.at(-1)?.envelope.ts
  const itself = { ...nothing, from, to: isLive ? undefined : Date.parse(ended ?? block.envelope.ts) }
  const others = entries.map((each) => countEntry(each, sources, !isLive))
  return addTotals([{ ...itself, tokens, cost, models }, ...others])
}

/**
 * Counts an entry of a run, or an event outside of runs. `isOver`: the run has ended, so that a call without a response no
 * longer counts as running.
 */
function countEntry(entry: BlockEntry, { getProposal }: Sources, isOver: boolean): Totals {
  const { type, envelope } = entry
  const from = Date.parse(envelope.ts)
  if (type === 'proposal') {
    const proposal = getProposal(envelope.id)
    return { ...nothing, from, to: proposal === undefined ? from : decidedAt(proposal) }
  }
  if (type !== 'call') return { ...nothing, from, to: from, errors: isProblem(envelope) ? 1 : 0 }
  const { response } = entry
  const to = response === undefined ? (isOver ? from : undefined) : Date.parse(response.ts)
  return { ...nothing, from, to, calls: 1, errors: hasFailed(entry) ? 1 : 0 }
}

function addTotals(parts: readonly Totals[]): Totals {
  let [from, to, calls, errors] = [Number.POSITIVE_INFINITY, 0 as number | undefined, 0, 0]
  let [cost, tokens] = [undefined as number | undefined, noTokens]
  const models = new Set<string>()
  for (const part of parts) {
    from = Math.min(from, part.from)
    to = to === undefined || part.to === undefined ? undefined : Math.max(to, part.to)
    calls += part.calls
    errors += part.errors
    if (part.cost !== undefined) cost = (cost ?? 0) + part.cost
    if (part.tokens !== noTokens) tokens = addTokens(tokens, part.tokens)
    for (const model of part.models) models.add(model)
  }
  return { from, to, tokens, cost, calls, errors, models: [...models] }
}

const sum = (one = 0, other = 0): number => one + other

const addTokens = (one: Tokens, other: Tokens): Tokens => ({
  input: sum(one.input, other.input),
  output: sum(one.output, other.output),
  cached: sum(one.cached, other.cached),
  reasoning: sum(one.reasoning, other.reasoning),
})

/** The smallest value that is at least as large as this share of the values; `undefined` without values. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)]
}

/** The question, if it is loaded, and the last message that answers it. */
export function getMessages(blocks: readonly Block[]): {
  readonly question: Envelope | undefined
  readonly answer: Envelope | undefined
} {
  const said = blocks.filter(({ type }) => type === 'message')
  const [first] = blocks
  const question = first?.type === 'message' ? first.envelope : undefined
  const answer = said.findLast(({ envelope }) => envelope !== question && envelope.from !== question?.from)
  return { question, answer: answer?.envelope }
}
