import { type DecisionPayload, type Envelope, isThought, Kind, type Phase } from '@meup/protocol'
import { formatCapability } from '../describe.js'
import { guardedToolName, isNotification } from '../mcp/calls.js'
import { readResult } from '../mcp/result.js'
import { fieldsText, joinFields, thoughtText } from '../payload-text.js'
import type { Guard } from '../redact.js'
import type { Source } from '../source.js'
import { getMessage, head, isBlank } from '../text.js'

/** Maximum characters of a tool result in a step. */
const maxResultChars = 500

/** Name for the tool of a call whose request was pruned. */
const unknownTool = 'a tool'

/** The tool that an envelope calls or proposes to call; `undefined` = not a call. */
export function calledTool({ kind, payload }: Envelope, guard: Guard): string | undefined {
  const isCall = kind === Kind.mcpProposal || (kind === Kind.mcpRequest && !isNotification(payload))
  return isCall ? guardedToolName(payload, guard) : undefined
}

/**
 * The steps of an envelope, in order [MEUP-10.5]. `answered`: ids and tools of the calls that a response answers; no tool if
 * the request was pruned.
 */
export function getSteps(
  envelope: Envelope,
  answered: readonly (readonly [id: string, tool: string | undefined])[],
  guard: Guard,
): readonly StepDraft[] {
  const { id, kind, payload } = envelope
  if (kind === Kind.mcpResponse) {
    const { outcome, text } = readResult(payload, guard)
    const phase = outcome === 'error' ? 'error' : 'execute'
    const said = head(text, maxResultChars)
    return answered.map(([call, tool = unknownTool]) => ({
      phase,
      content: `${tool} -> ${said}`,
      linked_tool_call: call,
    }))
  }
  if (kind === Kind.mcpProposal) {
    const content = `Awaiting human approval for ${guardedToolName(payload, guard)}`
    return [{ phase: 'waiting_approval', content, linked_approval_request: id }]
  }
  if (kind === Kind.systemDecision) {
    const { reasonCode, message, missing } = payload as Partial<DecisionPayload>
    const lacking = missing === undefined ? '' : ` It lacks ${formatCapability(missing)}.`
    const content = `Policy ${String(reasonCode)}: ${String(message)}${lacking}`
    return [{ phase: 'waiting_approval', content, linked_policy_decision: id }]
  }
  return isThought(kind) ? thoughtSteps(payload) : []
}

/** One step of the audit: a row of `reasoning_steps`, with its source. */
export interface ReasoningStep {
  /** A ULID, increasing with later steps. */
  readonly id: string
  readonly turn_id: string
  /** Number of the step in its turn: from 0, without gaps. */
  readonly step_number: number
  readonly phase: Phase
  readonly content: string
  /** Id of the answered `mcp.request`, if the step is from its response. */
  readonly linked_tool_call: string | null
  /** Id of the `system.decision`, if the step is from one. */
  readonly linked_policy_decision: string | null
  /** Id of the `mcp.proposal`, if the step is from one. */
  readonly linked_approval_request: string | null
  /** Time of the envelope: RFC 3339 UTC, never before that of an earlier step. */
  readonly created_at: string
  readonly source: Source
}

type Links = Pick<ReasoningStep, 'linked_tool_call' | 'linked_policy_decision' | 'linked_approval_request'>

/** A step without its position in a turn. */
export interface StepDraft extends Partial<Links> {
  readonly phase: Phase
  readonly content: string
}

/**
 * The steps of a thought: one if it has a phase, otherwise as many as `splitSteps` finds in its text. Other fields are appended
 * to the last step; a thought of fields only is one step.
 */
export function thoughtSteps(payload: Readonly<Record<string, unknown>>): readonly StepDraft[] {
  const { phase } = payload
  if (isPhase(phase))
    return isBlank(thoughtText(payload)) ? [] : [{ phase, content: thoughtText(payload).trim() }]
  const parts = splitSteps(getMessage(payload))
  const last = parts.at(-1)
  const more = last === undefined ? thoughtText(payload) : fieldsText(payload)
  if (isBlank(more)) return parts
  if (last === undefined) return [{ phase: 'thinking', content: more }]
  return [...parts.slice(0, -1), { ...last, content: joinFields([last.content, more]) }]
}

export interface ParsedStep {
  readonly turn_id: string
  /** Number of the step, from 0. */
  readonly step_number: number
  readonly phase: Phase
  readonly content: string
}

interface Part {
  readonly phase: Phase
  readonly content: string
}

/** Splits the text of a thought into steps. Blank text has none. */
export const parseThinking = (turnId: string, text: string): ParsedStep[] =>
  splitSteps(text).map(({ phase, content }, index) => ({
    turn_id: turnId,
    step_number: index,
    phase,
    content,
  }))

/** Splits a thought into steps at its labels, or if it has none, by the form of each line. */
export function splitSteps(text: string): readonly Part[] {
  const parts = anyLabel.test(text) ? byLabels(text) : byLines(text)
  return parts
    .map(({ phase, content }) => ({ phase, content: content.trim() }))
    .filter(({ content }) => !isBlank(content))
}

/** Splits at labels. Text before the first label has the phase thinking. */
function byLabels(text: string): readonly Part[] {
  const [before = '', ...rest] = text.split(anyLabel)
  const parts: Part[] = [{ phase: 'thinking', content: before }]
  for (let at = 0; at < rest.length; at += 2) {
    parts.push({ phase: parsePhaseLabel(rest[at] ?? '') ?? 'thinking', content: rest[at + 1] ?? '' })
  }
  return parts
}

const numbered = /^\s*\d+[.)](?!\d)/
const bullet = /^\s*(?:[-*•]\s|・)/
const continued = /^\s+\S/
const announcesPlan = /\b(?:plan|steps)|手順/i
const looksLikeError = /error|failed|エラー|失敗/i

/** Splits into runs of adjacent lines of one phase; a blank line belongs to the line before it. */
function byLines(text: string): readonly Part[] {
  const parts: { phase: Phase; content: string }[] = []
  let isPlanned = false
  for (const line of text.split('\n')) {
    const before = parts.at(-1)
    if (isBlank(line)) {
      if (before !== undefined) before.content += `\n${line}`
      continue
    }
    const isBullet = bullet.test(line)
    const goesOn = before?.phase === 'plan' && continued.test(line)
    const phase = detectPhase(line, (isBullet && isPlanned) || (goesOn && !isBullet))
    isPlanned = announcesPlan.test(line) || (isPlanned && (isBullet || goesOn))
    if (before?.phase === phase) before.content += `\n${line}`
    else parts.push({ phase, content: line })
  }
  return parts
}

function detectPhase(line: string, isPlanned: boolean): Phase {
  if (numbered.test(line) || isPlanned) return 'plan'
  return looksLikeError.test(line) ? 'error' : 'thinking'
}

export const phaseLabels: Readonly<Record<Phase, string>> = {
  thinking: '[思考]',
  plan: '[計画]',
  waiting_approval: '[承認待ち]',
  execute: '[実行]',
  error: '[エラー]',
}

const phases = Object.keys(phaseLabels) as readonly Phase[]
const byLabel = new Map(phases.map((phase) => [phaseLabels[phase], phase]))

export const isPhase = (value: unknown): value is Phase =>
  typeof value === 'string' && Object.hasOwn(phaseLabels, value)

/** The phase of a label; `undefined` for other texts. */
export const parsePhaseLabel = (label: string): Phase | undefined => byLabel.get(label)

/** Matches a label, in a group, so that `split` keeps it. */
const anyLabel = /(\[(?:思考|計画|承認待ち|実行|エラー)\])/

/** A bit for each phase, for sets of phases. */
export const phaseBits = Object.fromEntries(phases.map((phase, place) => [phase, 1 << place])) as Readonly<
  Record<Phase, number>
>
