import {
  type Capability,
  contextRoot,
  correlations,
  type Envelope,
  GATEWAY,
  isThought,
  Kind,
  openedContext,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { describeRight, type RightSources } from '../capabilities/right.js'
import { isInside } from '../contexts/context-view.js'
import { describe, formatCapability, sentence, Thinkers } from '../describe.js'
import { getEnding } from '../ending.js'
import { inertMarkdown, quoteFurtherLines } from '../markdown.js'
import { getCancellation, getParameters, guardedToolName, isNotification, isToolCall } from '../mcp/calls.js'
import { getStopWords, stoppedText } from '../mcp/program-ended.js'
import { readResult } from '../mcp/result.js'
import { detailsText, payloadText, withThoughtName } from '../payload-text.js'
import { type Guard, guarded, redact } from '../redact.js'
import { type Call, type CallChange, Calls, isProposal, RecentCalls } from '../space/calls.js'
import { phaseLabels, thoughtSteps } from '../steps/steps.js'
import { head, inlineJson, isBlank, isObject, isWithheld, onOneLine, printable, reasonText } from '../text.js'
import { maxCalls } from '../turns/asked-calls.js'
import { cancelledText } from '../turns/ending-text.js'
import type { TurnState } from '../turns/record.js'
import { outcomeText } from './outcome.js'

/** Maximum characters of arguments, and of a result. */
const [maxArgumentsChars, maxResultChars] = [200, 500]
const withheld = '(withheld)'

/** A call or a proposal that a paragraph describes. */
interface WrittenCall {
  readonly tool: string
  readonly expiresAt: unknown
  readonly context: string | undefined
  /** How the call ended; `null` = open, or ended in a way that no paragraph mentions. */
  readonly end: CallChange<WrittenCall>['what'] | null
  /** The reason with which the context or turn of the call was cancelled, possibly empty; `null` = not cancelled. */
  readonly cancelled: string | null
}

interface NarratorOptions {
  readonly agent?: string
  readonly context?: string
  readonly rights?: RightSources
}

/** Writes envelopes as paragraphs in log order, for exports of the audit. */
export class Narrator {
  readonly #agent: string | undefined
  readonly #guard: Guard
  readonly #rights: RightSources | undefined
  readonly #calls = new Calls<WrittenCall>({
    store: new RecentCalls(maxCalls),
    reduce: (change, envelope) => this.#reduce(change, envelope),
  })
  /** Owners of contexts by path. */
  readonly #owners = new Bounded<string>(10_000)
  readonly #thinkers = new Thinkers()
  #context: string | undefined
  /** Reason of the latest cancellation, for the calls that are open when the turn turns out to be cancelled. */
  #reason = ''

  /**
   * `agent`: its thoughts are written without a name. `context`: the one that the section's heading names. `rights`: sources
   * for describing the right of each call.
   */
  constructor(guard: Guard, { agent, context, rights }: NarratorOptions) {
    this.#guard = guard
    this.#rights = rights
    this.#agent = agent
    this.#context = context
  }

  /** The paragraphs of an envelope, after those of proposals that expired before it. */
  write(envelope: Envelope): string[] {
    const before = this.#writeExpired(this.#calls.apply(envelope))
    const place = this.#writeHeading(envelope)
    return [...before, ...[...place, ...this.#paragraphs(envelope)].map(inertMarkdown)]
  }

  /** Paragraphs of the proposals that have expired by `time` (RFC 3339). */
  expired(time: string): string[] {
    return this.#writeExpired(this.#calls.expire(time))
  }

  #writeExpired(changes: readonly CallChange<WrittenCall>[]): string[] {
    return changes.flatMap(({ what, call: { id, data } }) => {
      if (what !== 'expired' || data.end !== 'expired') return []
      const when = onOneLine(String(data.expiresAt))
      return [inertMarkdown(`${data.tool} expired at ${when}, nobody decided${link('approval', id)}`)]
    })
  }

  /** Paragraphs of the calls without an answer. In an export of one context the answer may be outside of it. */
  unanswered(state: TurnState): string[] {
    const [here, yet] = [this.#agent === undefined ? ' here' : '', state === 'running' ? ' yet' : '']
    if (state === 'cancelled') this.#cancelOpen(this.#reason)
    return [...this.#calls.all()]
      .filter((call) => call.data.end === null && (!isProposal(call) || call.data.cancelled !== null))
      .sort((one, other) => one.seq - other.seq)
      .map(({ id, kind, data: { tool, cancelled } }) => {
        const end = cancelled === null ? `no answer${here}${yet}` : cancelledText(cancelled)
        return inertMarkdown(`${tool} -> ${end}${link(kind === 'proposal' ? 'approval' : 'tool_call', id)}`)
      })
  }

  /** Updates a call. Only its first end counts; a proposal that was cancelled with its turn does not expire later. */
  #reduce({ what, call: { data } }: CallChange<WrittenCall>, { context, payload }: Envelope): WrittenCall {
    if (what === 'asked')
      return {
        tool: this.#toolIn(payload),
        expiresAt: payload.expiresAt,
        context,
        end: null,
        cancelled: null,
      }
    const isEnd = what !== 'program ended' && (what !== 'expired' || data.cancelled === null)
    return isEnd && data.end === null ? { ...data, end: what } : data
  }

  /** The heading of a nested context, if the envelope is in another context than the previous one. */
  #writeHeading(envelope: Envelope): string[] {
    const context = this.#isOpening(envelope) ? openedContext(envelope) : envelope.context
    if (context === undefined || context === this.#context) return []
    const isNested = [context, this.#context].some((path) => path !== undefined && contextRoot(path) !== path)
    this.#context = context
    return isNested ? [`### ${context}`] : []
  }

  /** Whether a start opens a context; in a free path, a context that no run has opened, it does not. */
  #isOpening({ kind, context }: Envelope): boolean {
    return kind === Kind.reasoningStart && (context === undefined || this.#owners.get(context) !== undefined)
  }

  #paragraphs(envelope: Envelope): string[] {
    const { kind, from, payload } = envelope
    switch (kind) {
      case Kind.chat:
        return [`${from} ${this.#getVerb(envelope)}: ${saidIn(payload)}`]
      case Kind.chatCancel:
        if (this.#agent !== undefined) this.#cancelOpen(payload.reason)
        break
      case Kind.reasoningStart:
        this.#owners.set(openedContext(envelope), from)
        return [`${from} begins${aside(envelope)}`]
      case Kind.reasoningConclusion: {
        this.#close(envelope)
        const isCancelled = isObject(payload.metadata) && payload.metadata.cancelled === true
        return [`${from} ${isCancelled ? 'cancels' : 'concludes'}${aside(envelope)}`]
      }
      case Kind.reasoningCancel:
        return [this.#cancel(envelope)]
      case Kind.mcpRequest:
        return [isNotification(payload) ? this.#notification(envelope) : this.#request(envelope)]
      case Kind.mcpProposal:
        return [this.#proposal(envelope)]
      case Kind.mcpResponse:
        return correlations(envelope).map((id) => this.#response(envelope, id))
      case Kind.mcpReject:
      case Kind.mcpWithdraw:
        return correlations(envelope).map((id) => this.#refusal(envelope, id))
      case Kind.systemDecision:
        return [this.#decision(envelope)]
    }
    if (isThought(kind)) return this.#thought(envelope)
    const { detail, ...said } = describe(envelope, this.#guard)
    return [sentence({ ...said, detail: quoted(detail) })]
  }

  #getVerb({ from, context }: Envelope): string {
    if (context !== undefined || this.#agent === undefined) return 'says'
    return from === this.#agent ? 'answers' : 'asks'
  }

  /** Writes a thought. `says` marks actions that an agent only claims, in contrast to steps of tools and the gateway. */
  #thought(envelope: Envelope): string[] {
    const { kind, from, payload } = envelope
    const answered = this.#thinkers.findAnswered(envelope)
    const reply = answered === undefined ? '' : `to ${answered}: `
    const who = from === this.#agent ? '' : `${from} `
    const about = detailsText(payload)
    const steps = isWithheld(payload)
      ? [{ phase: 'thinking', content: withheld } as const]
      : thoughtSteps(payload)
    return steps.map(({ phase, content }, index) => {
      const claim = phase === 'thinking' || phase === 'plan' ? '' : `${from} says: `
      const end =
        index === steps.length - 1 && about !== '' && about !== content ? ` (${onOneLine(about)})` : ''
      return `${who}${phaseLabels[phase]} ${index === 0 ? reply : ''}${claim}${withEnd(index === 0 ? withThoughtName(kind, content) : content, end)}`
    })
  }

  #cancel(envelope: Envelope): string {
    const { from, payload } = envelope
    this.#close(envelope)
    const words = getStopWords(envelope)
    if (words !== undefined) return onOneLine(stoppedText(this.#getOwner(envelope), words))
    const deed = this.#mayClose(envelope) ? 'cancels' : `asks ${this.#getOwner(envelope)} to stop`
    return `${from} ${deed}${because(payload.reason)}`
  }

  #getOwner({ from, context = '' }: Envelope): string {
    return this.#owners.get(context) ?? this.#agent ?? from
  }

  #mayClose(envelope: Envelope): boolean {
    return envelope.from === GATEWAY || envelope.from === this.#getOwner(envelope)
  }

  /** Cancels the open calls of a cancelled context; in a free path, which no run has opened, only those of its agent. */
  #close(envelope: Envelope): void {
    const [state, reason] = getEnding(envelope)
    if (state !== 'cancelled' || !this.#mayClose(envelope)) return
    const { from, context = '' } = envelope
    const root = contextRoot(context)
    const isOpened = this.#owners.get(context) !== undefined || this.#owners.get(root) !== undefined
    this.#cancelOpen(reason, (call) =>
      isOpened
        ? isInside(context, call.data.context)
        : call.from === from && call.data.context !== undefined && contextRoot(call.data.context) === root,
    )
  }

  /** Marks the open calls that `isMeant` selects as cancelled. */
  #cancelOpen(reason: unknown, isMeant: (call: Call<WrittenCall>) => boolean = () => true): void {
    const cancelled = this.#clean(reason)
    this.#reason = cancelled
    for (const call of [...this.#calls.open()]) {
      const { id, data } = call
      if (data.end === null && data.cancelled === null && isMeant(call))
        this.#calls.setData(id, { ...data, cancelled })
    }
  }

  #notification(envelope: Envelope): string {
    const { from, payload } = envelope
    const call = this.#calls.findCancelled(envelope)
    if (call === undefined) return `${from} sends ${this.#toolIn(payload)}${this.#argumentsIn(payload)}`
    const reason = getCancellation(payload)?.reason
    // Cancelling the request that the agent answers cancels the turn, and with it the open calls.
    if (this.#agent !== undefined && call.from !== this.#agent) this.#cancelOpen(reason)
    return `${from} cancels ${call.data.tool}${link('tool_call', call.id)}${because(this.#clean(reason))}`
  }

  /** A request that fulfils a proposal is written as an approval, without its arguments: the proposal has them. */
  #request(envelope: Envelope): string {
    const { id, from, to, ts, payload } = envelope
    const [proposal] = correlations(envelope)
      .flatMap((about) => this.#calls.get(about) ?? [])
      .filter(isProposal)
    const tool = this.#getTool(id)
    const reason = formatReason(envelope, proposal !== undefined || isToolCall(payload))
    // Only the paragraph in the caller's turn says which right let the call pass; the one in the tool's turn omits it.
    const isInTurnOfTool = proposal === undefined && to?.includes(this.#agent ?? '') === true
    const why = isInTurnOfTool ? reason : `${reason}${this.#rightOf(envelope)}`
    if (proposal === undefined)
      return `${from} calls ${tool}${ofWhom(to)}${this.#argumentsIn(payload)}${why}${link('tool_call', id)}`
    const deed = proposal.from === from ? 'carries out' : 'approves'
    return `${from} ${deed} ${tool} at ${ts}${link('approval', proposal.id)}${why}${link('tool_call', id)}`
  }

  #rightOf(request: Envelope): string {
    const right = this.#rights && describeRight(request, this.#rights)
    return right === undefined ? '' : ` · ${right.words}`
  }

  #proposal(envelope: Envelope): string {
    const { id, from, to, payload } = envelope
    const who = from === this.#agent ? '' : `${from} `
    const expiry = typeof payload.expiresAt === 'string' ? ` · until ${onOneLine(payload.expiresAt)}` : ''
    const asked = `${ofWhom(to)}${this.#argumentsIn(payload)}${formatReason(envelope, isToolCall(payload))}${expiry}`
    return `${who}${phaseLabels.waiting_approval} Awaiting human approval for ${this.#getTool(id)}${asked}${link('approval', id)}`
  }

  #response({ from, payload }: Envelope, about: string): string {
    const { outcome, text, size } = readResult(payload, this.#guard)
    const call = this.#calls.get(about)
    const [said, length] = isBlank(text) ? [outcomeText({ outcome, size }), ''] : shortResult(text)
    const isAnswer = from === this.#agent && call?.from !== undefined && call.from !== from
    const who = isAnswer ? `${from} answers ` : ''
    const label = phaseLabels[outcome === 'error' ? 'error' : 'execute']
    return `${who}${label} ${this.#getTool(about)} -> ${withEnd(said, `${length}${link('tool_call', about)}`)}`
  }

  #refusal({ kind, from, ts, payload: { reason, message } }: Envelope, about: string): string {
    const deed = kind === Kind.mcpReject ? 'rejects' : 'withdraws'
    const why = [reason, message].map((text) => this.#clean(text)).filter((text) => text !== '')
    return `${from} ${deed} ${this.#getTool(about)} at ${ts}${link('approval', about)}${because(why.join(': '))}`
  }

  /**
   * Writes a decision with the refused call and its rationale, which no other envelope has. A `blocked` decision withholds only
   * one text of a call, not the call.
   */
  #decision({ id, to, payload }: Envelope): string {
    const [participant = ''] = to ?? []
    const {
      decision,
      reasonCode,
      message,
      attemptedKind,
      attemptedTool,
      attemptedRationale,
      missing,
      count,
    } = payload
    const who = participant === this.#agent || participant === '' ? '' : `${participant} `
    const tool = this.#clean(attemptedTool ?? attemptedKind)
    const isRefusedCall = attemptedTool !== undefined && (decision === 'denied' || decision === 'limited')
    const reason = typeof attemptedRationale === 'string' ? attemptedRationale : undefined
    const why = isRefusedCall || reason !== undefined ? ` — ${quote(reason)}` : ''
    const what = decision === 'blocked' ? `a text of ${tool}` : tool
    const attempt = `${String(decision)}: ${what}${this.#attempted(payload.attemptedArguments)}${why}`
    const times = Number(count) > 1 ? ` · ${Number(count)} times` : ''
    const lacking = isCapability(missing) ? ` · lacks ${onOneLine(formatCapability(missing))}` : ''
    const policy = `Policy ${String(reasonCode)}: ${onOneLine(String(message))}`
    return `${who}${phaseLabels.waiting_approval} ${policy} · ${attempt}${lacking}${times}${link('policy', id)}`
  }

  #attempted(value: unknown): string {
    if (value === undefined) return ''
    // Long arguments are logged as a string: a prefix of their JSON.
    const isText = typeof value === 'string'
    return ` ${onOneLine(isText ? head(guarded(value, this.#guard), maxArgumentsChars) : this.#json(value))}`
  }

  #toolIn(payload: Envelope['payload']): string {
    return onOneLine(guardedToolName(payload, this.#guard))
  }

  #getTool(id: string): string {
    return this.#calls.get(id)?.data.tool ?? 'a call'
  }

  #argumentsIn(payload: Envelope['payload']): string {
    const text = this.#json(getParameters(payload))
    return text === '{}' ? '' : ` ${text}`
  }

  #json(value: unknown): string {
    return onOneLine(inlineJson(redact(value, this.#guard).value, maxArgumentsChars))
  }

  /** Masks a text and puts it on one line; returns `''` for other values. */
  #clean(text: unknown): string {
    return typeof text === 'string' ? onOneLine(guarded(text, this.#guard)) : ''
  }
}

const link = (name: 'tool_call' | 'policy' | 'approval', id: string): string => ` (${name}: ${onOneLine(id)})`

/** Cuts a result. Returns the shown part, and the full length in words if it was cut. JSON is put on one line. */
function shortResult(text: string): [shown: string, length: string] {
  const isJson = /^\s*[{[]\s*["{[]/.test(text)
  const looked = isJson ? head(text, 4 * maxResultChars) : text
  const whole = isJson ? onOneLine(looked) : text
  if (whole.length <= maxResultChars && looked === text) return [whole, '']
  return [`${head(whole, maxResultChars)}…`, ` (of ${text.length.toLocaleString('en')} characters)`]
}

const ofWhom = (to: readonly string[] | undefined): string =>
  to === undefined || to.length === 0 ? '' : ` of ${to.join(', ')}`

const because = (reason: unknown): string =>
  typeof reason === 'string' && !isBlank(reason) ? `: ${onOneLine(reason)}` : ''

const isCapability = (value: unknown): value is Capability => typeof value === 'string' || isObject(value)

const quote = (reason: string | undefined): string =>
  reason === undefined || isBlank(reason) ? reasonText(null) : `"${onOneLine(reason)}"`

/** Writes the rationale of a call. `isExpected`: if it is missing, says so. */
const formatReason = ({ rationale }: Envelope, isExpected: boolean): string =>
  isExpected || (rationale !== undefined && !isBlank(rationale)) ? ` — ${quote(rationale)}` : ''

const saidIn = (payload: Envelope['payload']): string =>
  isWithheld(payload) ? withheld : quoted(payloadText(payload))

/** Appends `end` to a text, on a line of its own if the text ends in a block quote. */
function withEnd(text: string, end: string): string {
  const said = quoted(text)
  return said.includes('\n> ') && end !== '' ? `${said}\n\n${end.trim()}` : `${said}${end}`
}

/** Writes the text of a start or a conclusion, with references and metadata. */
function aside({ payload }: Envelope): string {
  const text = saidIn(payload)
  const about = onOneLine(detailsText(payload))
  if (about === '' || text === about) return text === '' ? '' : `: ${text}`
  return `${text === '' ? '' : ':'} ${withEnd(text, ` (${about})`)}`.replace(/^ +/, ' ')
}

/**
 * Prepares a participant's text for insertion: further lines become a block quote, so that no line can pass for one of ours.
 */
const quoted = (text: string): string => quoteFurtherLines(printable(text).trim())
