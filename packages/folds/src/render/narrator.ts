import {
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
import { Deadlines } from '../deadlines.js'
import { describe, sentence } from '../describe.js'
import { getEnding } from '../ending.js'
import { inertMarkdown, quoteFurtherLines } from '../markdown.js'
import {
  findCancelledCall,
  getParameters,
  guardedToolName,
  isNotification,
  isToolCall,
} from '../mcp/calls.js'
import { isProgramEnd, programEndedText } from '../mcp/program-ended.js'
import { readResult } from '../mcp/result.js'
import { detailsText, payloadText, withThoughtName } from '../payload-text.js'
import { type Guard, guarded, redact } from '../redact.js'
import { phaseLabels, thoughtSteps } from '../steps/steps.js'
import { head, inlineJson, isBlank, isObject, isWithheld, onOneLine, printable, reasonText } from '../text.js'
import { cancelledText } from '../turns/ending-text.js'
import type { TurnState } from '../turns/record.js'
import { outcomeText } from './outcome.js'

/** Characters of arguments, and of a result. */
const [maxArgumentsChars, maxResultChars] = [200, 500]
const withheld = '(withheld)'

/** A call or a proposal. */
interface Call {
  readonly id: string
  readonly from: string
  readonly tool: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
  readonly expiresAt: unknown
  readonly context: string | undefined
  /** Whether it has no outcome. */
  isOpen: boolean
  /** Why it was cancelled, may be empty; `null` = it was not. */
  cancelled: string | null
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
  readonly #calls = new Bounded<Call>(20_000)
  /** Deadlines of open proposals. */
  readonly #deadlines = new Deadlines()
  /** Starters by context. */
  readonly #owners = new Bounded<string>(10_000)
  #context: string | undefined
  /** Reason of the latest cancellation. */
  #reason = ''

  /** `agent`: its thoughts are written without a name. `context`: the context of the section. `rights`: the sources of the words for the right of each call. */
  constructor(guard: Guard, { agent, context, rights }: NarratorOptions) {
    this.#guard = guard
    this.#rights = rights
    this.#agent = agent
    this.#context = context
  }

  /** The paragraphs of an envelope, after those of proposals that expired before it. */
  write(envelope: Envelope): string[] {
    const before = this.expired(Date.parse(envelope.ts))
    const place = this.#writeHeading(envelope)
    return [...before, ...[...place, ...this.#paragraphs(envelope)].map(inertMarkdown)]
  }

  /** Paragraphs of the proposals that have expired by `now` (milliseconds). */
  expired(now: number): string[] {
    return this.#deadlines.due(now).flatMap((id) => {
      const call = this.#settle(id)
      if (call === undefined) return []
      const when = onOneLine(String(call.expiresAt))
      return [inertMarkdown(`${call.tool} expired at ${when}, nobody decided${link('approval', id)}`)]
    })
  }

  /** Paragraphs of the calls without an answer. In an export of one context the answer may be outside of it. */
  unanswered(state: TurnState): string[] {
    const [here, yet] = [this.#agent === undefined ? ' here' : '', state === 'running' ? ' yet' : '']
    if (state === 'cancelled') this.#cancelOpen(this.#reason)
    return [...this.#calls.values()]
      .filter(({ isOpen, isProposal, cancelled }) => isOpen && (!isProposal || cancelled !== null))
      .map(({ id, tool, isProposal, cancelled }) => {
        const end = cancelled === null ? `no answer${here}${yet}` : cancelledText(cancelled)
        return inertMarkdown(`${tool} -> ${end}${link(isProposal ? 'approval' : 'tool_call', id)}`)
      })
  }

  /** The heading of a nested context, where the section moves to another context. */
  #writeHeading(envelope: Envelope): string[] {
    const context = this.#isOpening(envelope) ? openedContext(envelope) : envelope.context
    if (context === undefined || context === this.#context) return []
    const isNested = [context, this.#context].some((path) => path !== undefined && contextRoot(path) !== path)
    this.#context = context
    return isNested ? [`### ${context}`] : []
  }

  /** A start in a free path opens no context. */
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

  /** Actions that an agent only claims are marked with `says`, unlike the steps of tools and of the gateway. */
  #thought({ kind, from, payload }: Envelope): string[] {
    const who = from === this.#agent ? '' : `${from} `
    const about = detailsText(payload)
    const steps = isWithheld(payload)
      ? [{ phase: 'thinking', content: withheld } as const]
      : thoughtSteps(payload)
    return steps.map(({ phase, content }, index) => {
      const claim = phase === 'thinking' || phase === 'plan' ? '' : `${from} says: `
      const end =
        index === steps.length - 1 && about !== '' && about !== content ? ` (${onOneLine(about)})` : ''
      return `${who}${phaseLabels[phase]} ${claim}${withEnd(index === 0 ? withThoughtName(kind, content) : content, end)}`
    })
  }

  #cancel(envelope: Envelope): string {
    const { from, payload } = envelope
    this.#close(envelope)
    if (isProgramEnd(envelope)) return onOneLine(programEndedText(this.#getOwner(envelope)))
    const deed = this.#mayClose(envelope) ? 'cancels' : `asks ${this.#getOwner(envelope)} to stop`
    return `${from} ${deed}${because(payload.reason)}`
  }

  #getOwner({ from, context = '' }: Envelope): string {
    return this.#owners.get(context) ?? this.#agent ?? from
  }

  #mayClose(envelope: Envelope): boolean {
    return envelope.from === GATEWAY || envelope.from === this.#getOwner(envelope)
  }

  /** Cancels the open calls of a cancelled context; in a free path, those of its agent. */
  #close(envelope: Envelope): void {
    const [state, reason] = getEnding(envelope)
    if (state !== 'cancelled' || !this.#mayClose(envelope)) return
    const { from, context = '' } = envelope
    const root = contextRoot(context)
    const isOpened = this.#owners.get(context) !== undefined || this.#owners.get(root) !== undefined
    this.#cancelOpen(reason, (call) =>
      isOpened
        ? isInside(context, call.context)
        : call.from === from && call.context !== undefined && contextRoot(call.context) === root,
    )
  }

  /** Marks open calls as cancelled. */
  #cancelOpen(reason: unknown, isMeant: (call: Call) => boolean = () => true): void {
    this.#reason = this.#clean(reason)
    for (const call of this.#calls.values()) {
      if (!call.isOpen || !isMeant(call)) continue
      call.cancelled ??= this.#reason
      this.#deadlines.delete(call.id)
    }
  }

  #notification(envelope: Envelope): string {
    const { from, payload } = envelope
    const named = findCancelledCall(envelope, this.#calls, (call) => call.from)
    if (named === undefined) return `${from} sends ${this.#toolIn(payload)}${this.#argumentsIn(payload)}`
    const { key, call, reason } = named
    // Cancelling the request that the agent answers cancels the turn.
    if (this.#agent !== undefined && call.from !== this.#agent) this.#cancelOpen(reason)
    this.#settle(key)
    return `${from} cancels ${call.tool}${link('tool_call', key)}${because(this.#clean(reason))}`
  }

  /** A request that fulfils a proposal is written as an approval, without its arguments: the proposal has them. */
  #request(envelope: Envelope): string {
    const { id, from, to, ts, payload } = envelope
    const proposal = correlations(envelope).find((about) => this.#calls.get(about)?.isProposal)
    const tool = this.#remember(envelope, false)
    const reason = formatReason(envelope, proposal !== undefined || isToolCall(payload))
    // The turn of the caller says which right let the call pass; the turn of the tool does not repeat it.
    const isInTurnOfTool = proposal === undefined && to?.includes(this.#agent ?? '') === true
    const why = isInTurnOfTool ? reason : `${reason}${this.#rightOf(envelope)}`
    if (proposal === undefined)
      return `${from} calls ${tool}${ofWhom(to)}${this.#argumentsIn(payload)}${why}${link('tool_call', id)}`
    const deed = this.#settle(proposal)?.from === from ? 'carries out' : 'approves'
    return `${from} ${deed} ${tool} at ${ts}${link('approval', proposal)}${why}${link('tool_call', id)}`
  }

  #rightOf(request: Envelope): string {
    const right = this.#rights && describeRight(request, this.#rights)
    return right === undefined ? '' : ` · ${right.words}`
  }

  #proposal(envelope: Envelope): string {
    const { id, from, to, payload } = envelope
    const tool = this.#remember(envelope, true)
    this.#deadlines.set(id, payload.expiresAt)
    const who = from === this.#agent ? '' : `${from} `
    const expiry = typeof payload.expiresAt === 'string' ? ` · until ${onOneLine(payload.expiresAt)}` : ''
    const asked = `${ofWhom(to)}${this.#argumentsIn(payload)}${formatReason(envelope, isToolCall(payload))}${expiry}`
    return `${who}${phaseLabels.waiting_approval} Awaiting human approval for ${tool}${asked}${link('approval', id)}`
  }

  #response({ from, payload }: Envelope, about: string): string {
    const { outcome, text, size } = readResult(payload, this.#guard)
    const call = this.#settle(about)
    const [said, length] = isBlank(text) ? [outcomeText({ outcome, size }), ''] : shortResult(text)
    const isAnswer = from === this.#agent && call?.from !== undefined && call.from !== from
    const who = isAnswer ? `${from} answers ` : ''
    const label = phaseLabels[outcome === 'error' ? 'error' : 'execute']
    return `${who}${label} ${this.#getTool(about)} -> ${withEnd(said, `${length}${link('tool_call', about)}`)}`
  }

  #refusal({ kind, from, ts, payload: { reason, message } }: Envelope, about: string): string {
    this.#settle(about)
    const deed = kind === Kind.mcpReject ? 'rejects' : 'withdraws'
    const why = [reason, message].map((text) => this.#clean(text)).filter((text) => text !== '')
    return `${from} ${deed} ${this.#getTool(about)} at ${ts}${link('approval', about)}${because(why.join(': '))}`
  }

  /** Includes the refused call and its rationale, which no other envelope has. `blocked` concerns one text of a call. */
  #decision({ id, to, payload }: Envelope): string {
    const [participant = ''] = to ?? []
    const { decision, reasonCode, message, attemptedKind, attemptedTool, attemptedRationale, count } = payload
    const who = participant === this.#agent || participant === '' ? '' : `${participant} `
    const tool = this.#clean(attemptedTool ?? attemptedKind)
    const isRefusedCall = attemptedTool !== undefined && (decision === 'denied' || decision === 'limited')
    const reason = typeof attemptedRationale === 'string' ? attemptedRationale : undefined
    const why = isRefusedCall || reason !== undefined ? ` — ${quote(reason)}` : ''
    const what = decision === 'blocked' ? `a text of ${tool}` : tool
    const attempt = `${String(decision)}: ${what}${this.#attempted(payload.attemptedArguments)}${why}`
    const times = Number(count) > 1 ? ` · ${Number(count)} times` : ''
    const policy = `Policy ${String(reasonCode)}: ${onOneLine(String(message))}`
    return `${who}${phaseLabels.waiting_approval} ${policy} · ${attempt}${times}${link('policy', id)}`
  }

  #attempted(value: unknown): string {
    if (value === undefined) return ''
    // A string is the beginning of their JSON.
    const isText = typeof value === 'string'
    return ` ${onOneLine(isText ? head(guarded(value, this.#guard), maxArgumentsChars) : this.#json(value))}`
  }

  #remember({ id, from, context, payload }: Envelope, isProposal: boolean): string {
    const tool = this.#toolIn(payload)
    const jsonRpcId = payload.id === undefined || payload.id === null ? null : String(payload.id)
    const { expiresAt } = payload
    const fresh = { isOpen: true, cancelled: null }
    this.#calls.set(id, { id, from, tool, isProposal, jsonRpcId, expiresAt, context, ...fresh })
    return tool
  }

  /** Marks a call as ended. */
  #settle(id: string): Call | undefined {
    this.#deadlines.delete(id)
    const call = this.#calls.get(id)
    if (call !== undefined) call.isOpen = false
    return call
  }

  #toolIn(payload: Envelope['payload']): string {
    return onOneLine(guardedToolName(payload, this.#guard))
  }

  #getTool(id: string): string {
    return this.#calls.get(id)?.tool ?? 'a call'
  }

  #argumentsIn(payload: Envelope['payload']): string {
    const text = this.#json(getParameters(payload))
    return text === '{}' ? '' : ` ${text}`
  }

  #json(value: unknown): string {
    return onOneLine(inlineJson(redact(value, this.#guard).value, maxArgumentsChars))
  }

  /** Guards a text and puts it on one line; `''` for anything else. */
  #clean(text: unknown): string {
    return typeof text === 'string' ? onOneLine(guarded(text, this.#guard)) : ''
  }
}

const link = (name: 'tool_call' | 'policy' | 'approval', id: string): string => ` (${name}: ${onOneLine(id)})`

/** The shown part of a result, and its length if that is not all. JSON is put on one line. */
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

const quote = (reason: string | undefined): string =>
  reason === undefined || isBlank(reason) ? reasonText(null) : `"${onOneLine(reason)}"`

/** `isExpected`: a missing rationale is written as such. */
const formatReason = ({ rationale }: Envelope, isExpected: boolean): string =>
  isExpected || (rationale !== undefined && !isBlank(rationale)) ? ` — ${quote(rationale)}` : ''

const saidIn = (payload: Envelope['payload']): string =>
  isWithheld(payload) ? withheld : quoted(payloadText(payload))

/** Appends `end` to a text, on a line of its own if the text ends in a block quote. */
function withEnd(text: string, end: string): string {
  const said = quoted(text)
  return said.includes('\n> ') && end !== '' ? `${said}\n\n${end.trim()}` : `${said}${end}`
}

/** The text of a start or a conclusion, with references and metadata. */
function aside({ payload }: Envelope): string {
  const text = saidIn(payload)
  const about = onOneLine(detailsText(payload))
  if (about === '' || text === about) return text === '' ? '' : `: ${text}`
  return `${text === '' ? '' : ':'} ${withEnd(text, ` (${about})`)}`.replace(/^ +/, ' ')
}

/** Puts a text of a participant into a paragraph: its further lines become a block quote, so that none passes for one of ours. */
const quoted = (text: string): string => quoteFurtherLines(printable(text).trim())
