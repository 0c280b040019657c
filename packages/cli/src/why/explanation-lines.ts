import type { WhyAnswer } from '@meup/agent-sdk/http'
import {
  brief,
  formatCapability,
  getCallRationale,
  onOneLine,
  plainStyle,
  type Style,
  type WhyRole,
  type WhyStep,
  whySignalTexts,
} from '@meup/folds'
import { type AnyEnvelope, type Capability, type DecisionPayload, Kind } from '@meup/protocol'
import { createDimmer, createHighlighter } from '../lib/output.js'
import { formatLocalTime } from '../lib/times.js'
import { type Explanation, listResults, type ModelUse, type Permission } from './explanation.js'

export interface WhyFormat {
  readonly style?: Style
  /** Maximum columns of a line. */
  readonly width?: number
  /** Finds the line of space.yaml that gives a participant a capability. */
  readonly findLine?: (participant: string, capability: string) => number | undefined
}

const labelColumns = 12
const defaultColumns = 100
/**
 * Maximum number in one explanation of questions, of refusals, rejections and proposals each, and of steps listed as "look
 * first".
 */
const [maxAsked, maxOthers, maxFirst] = [3, 2, 3]
/**
 * Maximum characters of the explained call, decision or answer, and maximum lines of a refusal, which names the missing
 * capability.
 */
const [maxTextChars, maxRefusalLines] = [400, 3]

const verbs: Readonly<Record<WhyRole, string>> = {
  asked: 'asks:',
  set_out: 'begins:',
  thought: 'thinks:',
  called: 'calls',
  result: 'gives back:',
  refused: 'was refused:',
  proposed: 'proposes',
  approved: 'approves',
  rejected: 'rejects:',
  concluded: 'concludes:',
  answered: 'answers:',
}

/**
 * First line of an explanation: `2026-11-24T18:14:26+01:00  janitor calls desk/delete_file {"path":"old.log"}
 * #1620`.
 */
const actLine = (of: AnyEnvelope, text: string, role: WhyRole, style = plainStyle): string => {
  const { from, to = [], seq, ts } = of
  const actor = role === 'refused' ? (to[0] ?? from) : from
  const isCall = role === 'called' || role === 'proposed' || role === 'approved'
  const target = isCall && to.length > 0 ? `${to.join(',')}/` : ''
  const said = `${verbs[role]} ${brief(onOneLine(`${target}${withoutReason(of, text)}`), maxTextChars)}`
  const dim = createDimmer(style)
  return `${dim(formatLocalTime(Date.parse(ts)))}  ${createHighlighter(style)(onOneLine(actor), actor)} ${said}  ${dim(`#${seq}`)}`
}

/** Rejections and withdrawals of proposals, without the withdrawals of those that were rejected before. */
const listOutcomes = (ends: readonly WhyStep[], proposals: readonly WhyStep[]): WhyStep[] =>
  ends.filter(({ about, from }, i) => {
    const isWithdrawal = proposals.some((each) => each.seq === about && each.from === from)
    return !isWithdrawal || !ends.slice(0, i).some((each) => each.about === about)
  })

/** Removes the reason from a call's description, because an explanation shows the reason on its own line. */
function withoutReason(of: AnyEnvelope, text: string): string {
  const reason = ` · ${getCallRationale({ ...of, payload: { ...of.payload } })}`
  return text.endsWith(reason) ? text.slice(0, -reason.length) : text
}

/** Formats an explanation: who asked, thoughts, results, reason, capability, model and proof. */
export function whyLines(explanation: Explanation, format: WhyFormat = {}): string[] {
  const { why, of, actor } = explanation
  const { style = plainStyle, width = defaultColumns } = format
  const last = why.steps.at(-1)
  const before = why.steps.slice(0, -1)
  const dim = createDimmer(style)
  const row = (label: string, text: string, seq?: number, lines = 1): string => {
    const place = seq === undefined ? '' : `  #${seq}`
    const room = Math.max(40, lines * width - labelColumns - 2 - place.length)
    return `  ${label.padEnd(labelColumns)}${brief(onOneLine(text), room)}${dim(place)}`
  }
  const byRole = (...roles: WhyRole[]): WhyStep[] => before.filter(({ role }) => roles.includes(role))
  const said = ({ from, text }: WhyStep): string => `${from}: ${text}`
  const thought = byRole('thought').findLast(({ from }) => from === actor)
  const lines = [
    ...keepEnds(byRole('asked'), maxAsked).map((step) => row('asked by', said(step), step.seq)),
    ...(thought === undefined ? [] : [row('thought', thought.text, thought.seq)]),
    ...listResults(before).map((step) => row('looked at', resultText(step, before), step.seq)),
    ...byRole('refused')
      .slice(-maxOthers)
      .map((step) => row('refused', step.text, step.seq, maxRefusalLines)),
    ...byRole('proposed')
      .slice(-maxOthers)
      .map((step) => row('proposed', said(step), step.seq)),
    ...listOutcomes(byRole('rejected'), byRole('proposed'))
      .slice(-maxOthers)
      .map((step) => row('rejected', said(step), step.seq)),
    ...reasonOf(of).map((text) => row('reason', text)),
    ...missingOf(of).map((missing) =>
      row('lacks', `${formatCapability(missing)} · /allow ${of.seq} in meup join grants it`),
    ),
    ...why.approvals.map(({ by, seq, reason }) =>
      row('approved', `by ${by}${reason === undefined ? '' : `: ${reason}`}`, seq),
    ),
    ...allowedText(explanation, format).map((text) => row('allowed', text)),
    ...listPermissions(explanation, format).map(([text, seq]) => row('allowed', text, seq)),
    ...modelText(explanation.model).map((text) => row('model', text)),
    ...firstText(before).map((text) => row('look first', text)),
    ...(why.outside.length === 0 ? [] : [row('outside', outsideText(why))]),
    ...(why.cut ? [row('cut', 'earlier steps were pruned, are too far back, or are not for you')] : []),
    `  ${'proof'.padEnd(labelColumns)}${why.proof.seq}:${why.proof.hash} · log up to ${why.proof.head}`,
  ]
  return [actLine(of, last?.text ?? '', last?.role ?? 'called', style), ...lines]
}

/** The first step and the last ones, `count` in total. */
const keepEnds = (steps: readonly WhyStep[], count: number): WhyStep[] =>
  steps.filter((_, index) => index === 0 || index > steps.length - count)

/** A result with its call: `files/read_text_file {"path":"report.txt"} → ok 1 signs in`. */
function resultText({ from, text, about }: WhyStep, steps: readonly WhyStep[]): string {
  const call = steps.find(({ seq }) => seq === about)
  const asked = call === undefined ? from : `${from}/${call.text.split(' · ')[0]}`
  return `${brief(onOneLine(asked), maxCallChars)} → ${text}`
}

const maxCallChars = 60

/**
 * The steps to look at first, with the text and signals of the highest-ranked one: `#13, #10, #12 · bot calls read {} · no
 * earlier step has its numbers or names`.
 */
function firstText(steps: readonly WhyStep[]): string[] {
  const ranked = steps.toSorted((one, other) => one.rank - other.rank).slice(0, maxFirst)
  const [first] = ranked
  if (first === undefined || steps.length <= maxFirst) return []
  const { from, role, text, signals = [] } = first
  const why = signals.map((signal) => whySignalTexts[signal]).join('; ')
  const deed = role === 'refused' ? 'refused:' : `${from} ${verbs[role]}`
  const said = `${deed} ${brief(onOneLine(text), maxCallChars)}`
  return [[ranked.map(({ seq }) => `#${seq}`).join(', '), said, why].filter(Boolean).join(' · ')]
}

function reasonOf(of: AnyEnvelope): string[] {
  const { attemptedRationale } = of.payload as Partial<DecisionPayload>
  const reason =
    of.kind === Kind.systemDecision
      ? attemptedRationale
      : of.kind === Kind.mcpReject
        ? undefined
        : getCallRationale({ ...of, payload: { ...of.payload } })
  return reason === undefined || reason === '' ? [] : [reason]
}

function missingOf({ kind, payload }: AnyEnvelope): Capability[] {
  const { missing } = payload as Partial<DecisionPayload>
  return kind !== Kind.systemDecision || missing === undefined ? [] : [missing]
}

/**
 * The permissions of the calls whose results an answer is based on, without repetitions, each with the seq of the first such
 * result.
 */
function listPermissions({ lookedAt }: Explanation, format: WhyFormat): [text: string, seq: number][] {
  const texts = lookedAt.flatMap(([seq, permission]) =>
    allowedText(permission, format).map((text): [string, number] => [text, seq]),
  )
  return texts.filter(([text], index) => texts.findIndex(([other]) => other === text) === index)
}

function allowedText({ why, actor, grant }: Permission, { findLine }: WhyFormat): string[] {
  const { allowed, approvals } = why
  if (allowed === undefined) return []
  const { by, capability, id } = allowed
  const approver = approvals.at(-1)?.by
  const holder = by === 'proposal' ? (approver ?? actor) : actor
  const line = capability === undefined ? undefined : findLine?.(holder, capability)
  const place = line === undefined ? 'space.yaml' : `space.yaml:${line}`
  const named = capability === undefined ? '' : `: ${capability}`
  if (by === 'grant') {
    const { expiresAt, reason } = Object(grant?.payload) as { expiresAt?: string; reason?: string }
    const until = expiresAt === undefined ? '' : ` until ${formatLocalTime(Date.parse(expiresAt))}`
    const because = reason === undefined ? '' : ` (${reason})`
    return [`by ${grant === undefined ? 'a grant' : `${grant.from}'s grant`} ${id}${until}${because}${named}`]
  }
  if (by === 'proposal') return [`by ${approver ?? 'an approval'}, who may by ${place}${named}`]
  return [`by ${place}${named}; nobody was asked`]
}

function modelText(model: ModelUse | undefined): string[] {
  if (model === undefined) return []
  const { name, tokens, transcript } = model
  const cost = tokens === undefined ? '' : `, ${tokens.toLocaleString('en')} tokens in its run`
  const kept = transcript === undefined ? '' : ` · meup transcript show ${transcript.slice(0, 12)}`
  return [`${name}${cost}${kept}`]
}

/** Lists the steps whose text comes from outside of the space and may contain instructions to the agent. */
const outsideText = ({ outside }: WhyAnswer): string =>
  `text from outside the space: ${outside.map((seq) => `#${seq}`).join(', ')}`
