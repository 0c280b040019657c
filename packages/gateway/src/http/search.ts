import { getOutcome, getToolName, guarded, type Match, TextSearch } from '@meup/folds'
import { correlations, type DecisionPayload, type Envelope, Kind, omitUndefined } from '@meup/protocol'
import type { Context } from 'hono'
import type { LogReader } from '../core/delivery/log-reads.js'
import { mayRead, type Reader } from '../core/may-read.js'
import { isRefusal } from '../core/refusal.js'
import type { Space } from '../core/space.js'
import { yieldIfBusy } from '../core/yielding.js'
import type { Caller } from '../host/gateway.js'
import type { Stretch } from '../index/words/word-index.js'
import { parseEnvelope } from '../log/entries.js'
import type { Entry, Filter, Heading } from '../ports/envelope-log.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { authenticateReader, chargeView, createReader, respondPage } from './views.js'

type Asked = ParsedQuery<
  'text' | 'from' | 'kind' | 'tool' | 'outcome' | 'since' | 'until' | 'limit' | 'before'
>

/** Characters of readable rows that one request searches. */
const maxCharacters = 8 * 1024 * 1024
/** Seqs that one request searches, apart from those that the word index excludes. */
const maxRows = 10_000
const defaultHits = 20

/** Kinds that can have a tool or an outcome. */
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

interface Hit extends Match, Pick<Heading, 'seq' | 'id' | 'ts' | 'from' | 'kind' | 'context'> {
  readonly tool?: string
}

/**
 * `GET /spaces/{space}/search`: envelopes that contain words, newest first [MEUP-11.19]. As in the history, the continuation
 * depends only on the query, the head, and readable envelopes.
 */
export async function getSearch(context: Context, options: HttpOptions, asked: Asked): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const { space } = visitor
  const { limit = defaultHits, since = Number.NEGATIVE_INFINITY } = asked
  const reader = createReader(visitor, context, options)
  const search = new Search(visitor, reader, asked)
  const { filter } = search
  const after = space.log.oldest - 1
  const before = Math.min(asked.before ?? Number.POSITIVE_INFINITY, space.delivered + 1)
  const hits: Hit[] = []
  let [characters, last, searchedTo]: [number, number, string | null] = [0, before, null]
  const respond = (next: number | undefined): Response =>
    respondPage(visitor, context, { hits, searched_to: searchedTo }, next)
  const stretches = search.stretches({ after, before })
  let stretch = await stretches.next()
  for (; stretch.done !== true; stretch = await stretches.next()) {
    for await (const rows of space.reads.entries(reader, { ...stretch.value, order: 'desc', filter })) {
      for (const row of rows) {
        if (hits.length === limit || characters >= maxCharacters) return respond(last)
        // Log times never decrease, so all remaining rows are before `since` as well. Only readable rows decide where the
        // period begins, so that unreadable ones are not revealed [MEUP-8.6].
        if (Date.parse(row.ts) < since) return respond(undefined)
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
  }
  const next = stretch.value
  if (next !== undefined) searchedTo = (await findTime(reader, space, next)) ?? searchedTo
  return respond(next)
}

/** The time of the first readable envelope from `seq` on. */
async function findTime(reader: Reader & LogReader, space: Space, seq: number): Promise<string | undefined> {
  const range = { after: seq - 1, before: space.delivered + 1, first: 1 } as const
  for await (const [row] of space.reads.entries(reader, range)) return row?.ts
  return undefined
}

/** One request: its query, and what it needs to check envelopes against it. */
class Search {
  readonly #visitor: Caller
  readonly #reader: Reader & LogReader
  readonly #asked: Asked
  readonly #text: TextSearch

  constructor(visitor: Caller, reader: Reader & LogReader, asked: Asked) {
    this.#visitor = visitor
    this.#reader = reader
    this.#asked = asked
    this.#text = new TextSearch(asked.text ?? '')
  }

  /** The ranges to search, newest first; returns the `before` of the next request once this one has searched enough. */
  async *stretches(range: Stretch): AsyncGenerator<Stretch, number | undefined> {
    const { words } = this.#visitor.turns
    if (words !== undefined) return yield* words.find(this.#reader, this.#text.words, range, maxRows)
    const after = Math.max(range.after, range.before - maxRows - 1)
    yield { ...range, after }
    return after > range.after ? after + 1 : undefined
  }

  /** The part of the query that the log applies itself. */
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

  find(row: Entry): Hit | undefined {
    const { seq, id, ts, from, kind, context, body } = row
    if (!this.#text.mayMatch(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')))
      return undefined
    if (Date.parse(ts) >= (this.#asked.until ?? Number.POSITIVE_INFINITY)) return undefined
    const envelope = parseEnvelope(row)
    if (!this.#hasOutcome(envelope)) return undefined
    const { safety } = this.#visitor.space
    const match = this.#text.match(envelope, (text) => guarded(text, (each) => safety.guard(each)))
    const called = match && this.#getCall(envelope)
    if (match === undefined || !this.#isOfTool(called)) return undefined
    const { tool } = called ?? {}
    return {
      ...{ seq, id, ts, from, kind },
      ...omitUndefined({ context, tool }),
      ...match,
    }
  }

  #hasOutcome({ kind, payload }: Envelope): boolean {
    const { outcome } = this.#asked
    if (outcome === undefined) return true
    if (kind === Kind.mcpResponse) return getOutcome(payload) === outcome
    const { decision } = payload as Partial<DecisionPayload>
    return kind === Kind.mcpReject || decision === 'denied' || decision === 'blocked'
  }

  /** Matches a tool by its name, or as `participant/tool`; if the owner is unknown, by its name only. */
  #isOfTool({ tool, to }: Partial<Called> = {}): boolean {
    const { tool: asked } = this.#asked
    if (asked === undefined || tool === asked) return true
    if (tool === undefined) return false
    return to === undefined ? asked.endsWith(`/${tool}`) : to.some((id) => `${id}/${tool}` === asked)
  }

  /** The called or proposed tool; for an answer, that of the call or proposal. */
  #getCall(envelope: Envelope): Called | undefined {
    const { kind, payload, to } = envelope
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) return describeCall(payload, to)
    if (kind === Kind.systemDecision) {
      const { attemptedTool: tool } = payload as Partial<DecisionPayload>
      return tool === undefined ? undefined : { tool }
    }
    if (kind !== Kind.mcpResponse && kind !== Kind.mcpReject) return undefined
    const { space } = this.#visitor
    const call = correlations(envelope)
      .flatMap((id) => space.log.heading(id) ?? [])
      .find(
        (each) =>
          (each.kind === Kind.mcpRequest || each.kind === Kind.mcpProposal) &&
          mayRead(this.#reader, space.decideAudience(each)),
      )
    const row = call && space.log.find(call.id)
    if (row === undefined) return undefined
    chargeView(this.#visitor, row.body.length)
    const { payload: called, to: callee } = parseEnvelope(row)
    return describeCall(called, callee)
  }
}

/** A tool, and the participants that own it. */
interface Called {
  readonly tool: string
  /** Absent = the owners are unknown. */
  readonly to?: readonly string[]
}

const describeCall = (payload: Envelope['payload'], to: readonly string[] | undefined): Called => ({
  tool: getToolName(payload),
  ...(to && { to }),
})
