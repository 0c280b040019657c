import { getOutcome, getToolName, guarded, TextSearch } from '@meup/folds'
import { correlations, type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import type { Context } from 'hono'
import { isRefusal } from '../core/admission/context.js'
import { yieldIfBusy } from '../core/delivery/log-reads.js'
import { mayRead } from '../core/may-read.js'
import { parseEnvelope } from '../core/replay.js'
import type { Caller } from '../host/gateway.js'
import type { EnvelopeLog, Filter, Row } from '../ports/envelope-log.js'
import type { Query } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { authenticateReader, chargeView, createReader, respondPage } from './views.js'

type Asked = Query<'text' | 'from' | 'kind' | 'tool' | 'outcome' | 'since' | 'until' | 'limit' | 'before'>

/** Rows that one request looks at, and characters of those that may be read. */
const maxRows = 10_000
const maxCharacters = 8 * 1024 * 1024
const defaultHits = 20

/** What of the log can have a tool, and an outcome. */
const kindsOfTools = [
  Kind.mcpRequest,
  Kind.mcpProposal,
  Kind.mcpResponse,
  Kind.mcpReject,
  Kind.systemDecision,
]
const kindsByOutcome: Readonly<Record<NonNullable<Asked['outcome']>, readonly string[]>> = {
  success: [Kind.mcpResponse],
  error: [Kind.mcpResponse],
  rejected: [Kind.mcpReject, Kind.systemDecision],
}

interface Hit {
  readonly seq: number
  readonly id: string
  readonly ts: string
  readonly from: string
  readonly kind: string
  readonly context?: string
  readonly tool?: string
  readonly snippet: string
  readonly ranges: readonly (readonly [number, number])[]
}

/**
 * `GET /spaces/{space}/search`: envelopes that say certain words, the newest first [MEUP-11.19]. Where it goes on follows, as in
 * the history, from the query, the head, and what may be read.
 */
export async function getSearch(context: Context, options: HttpOptions, asked: Asked): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const { space } = visitor
  const { limit = defaultHits } = asked
  const reader = createReader(visitor, context, options)
  const { after, before, isWhole } = await boundRange(space, asked)
  const search = new Search(visitor, asked)
  const hits: Hit[] = []
  let [characters, last, searchedTo]: [number, number, string | null] = [0, before, null]
  const respond = (next: number | undefined): Response =>
    respondPage(visitor, context, { hits, searched_to: searchedTo }, next)
  for await (const rows of space.reads.slices(reader, {
    after,
    before,
    order: 'desc',
    filter: search.filter,
  })) {
    for (const row of rows) {
      if (!mayRead(reader, space.decideAudience(row))) continue
      if (hits.length === limit || characters >= maxCharacters) return respond(last)
      last = row.seq
      searchedTo = row.ts
      characters += row.body.length
      chargeView(visitor, row.body.length)
      const hit = search.find(row)
      if (hit !== undefined) hits.push(hit)
      const pause = yieldIfBusy()
      if (pause !== undefined) await pause
    }
  }
  return respond(isWhole ? undefined : after + 1)
}

/** The rows of the time that is asked for, as far as one request looks at them; and whether these are all of them. */
async function boundRange(
  { log, delivered }: Caller['space'],
  { since, until, before = Number.POSITIVE_INFINITY }: Asked,
): Promise<{ readonly after: number; readonly before: number; readonly isWhole: boolean }> {
  const end = until === undefined ? delivered + 1 : await firstSeqFrom(until, log, delivered)
  const from = since === undefined ? log.oldest : await firstSeqFrom(since, log, delivered)
  const [after, last] = [from - 1, Math.min(before, end)]
  if (last - after <= maxRows + 1) return { after, before: last, isWhole: true }
  return { after: last - maxRows - 1, before: last, isWhole: false }
}

/** Of the first row of this time or later; the next one where there is none. Times in a log only grow. */
async function firstSeqFrom(time: number, log: EnvelopeLog, head: number): Promise<number> {
  let [low, high] = [log.oldest, head + 1]
  while (low < high) {
    const middle = (low + high) >> 1
    const [row] = await log.read({ after: middle - 1, before: middle + 1, limit: 1, only: 'headings' })
    if (row !== undefined && Date.parse(row.ts) < time) low = middle + 1
    else high = middle
  }
  return low
}

/** What one request looks for. */
class Search {
  readonly #visitor: Caller
  readonly #asked: Asked
  readonly #text: TextSearch

  constructor(visitor: Caller, asked: Asked) {
    this.#visitor = visitor
    this.#asked = asked
    this.#text = new TextSearch(asked.text ?? '')
  }

  /** The part that the log itself can answer. */
  get filter(): Filter {
    const { from, kind, tool, outcome } = this.#asked
    const possible: (readonly string[] | undefined)[] = [
      kind,
      tool === undefined ? undefined : kindsOfTools,
      outcome && kindsByOutcome[outcome],
    ]
    const [first, ...others] = possible.filter((kinds) => kinds !== undefined)
    const kinds = first?.filter((each) => others.every((list) => list.includes(each)))
    return { ...(kinds && { kinds }), ...(from && { from }) }
  }

  find(row: Row): Hit | undefined {
    const { seq, id, ts, from, kind, context, body } = row
    if (!this.#text.mayMatch(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')))
      return undefined
    const envelope = parseEnvelope(row)
    if (!this.#hasOutcome(envelope)) return undefined
    const tool = this.#getTool(envelope)
    if (this.#asked.tool !== undefined && tool !== this.#asked.tool) return undefined
    const { safety } = this.#visitor.space
    const match = this.#text.match(envelope, (text) => guarded(text, (each) => safety.guard(each)))
    return (
      match && {
        ...{ seq, id, ts, from, kind },
        ...(context !== undefined && { context }),
        ...(tool !== undefined && { tool }),
        ...match,
      }
    )
  }

  #hasOutcome({ kind, payload }: Envelope): boolean {
    const { outcome } = this.#asked
    if (outcome === undefined) return true
    if (kind === Kind.mcpResponse) return getOutcome(payload) === outcome
    const { decision } = payload as Partial<DecisionPayload>
    return kind === Kind.mcpReject || decision === 'denied' || decision === 'blocked'
  }

  /** The tool that it calls, proposes, or that the call or proposal had which it answers. */
  #getTool(envelope: Envelope): string | undefined {
    const { kind, payload } = envelope
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) return getToolName(payload)
    if (kind === Kind.systemDecision) return (payload as Partial<DecisionPayload>).attemptedTool
    if (kind !== Kind.mcpResponse && kind !== Kind.mcpReject) return undefined
    const { log } = this.#visitor.space
    const asked = correlations(envelope).flatMap((id) => log.find(id) ?? [])
    const call = asked.find((each) => each.kind === Kind.mcpRequest || each.kind === Kind.mcpProposal)
    return call && getToolName(parseEnvelope(call).payload)
  }
}
