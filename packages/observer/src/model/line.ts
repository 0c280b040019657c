import {
  cut,
  getToolName,
  isToolCall,
  isWithheld,
  type ProposalView,
  payloadText,
  printable,
  type Result,
  readResult,
  reasonText,
  thoughtName,
  thoughtText,
  withoutThoughtName,
} from '@meup/folds'
import {
  correlations,
  type Envelope,
  GATEWAY,
  isThought,
  Kind,
  namespaceOf,
  reservedNamespaces,
} from '@meup/protocol'
import type { CallEntry, Entry } from './entry.js'
import { eventText } from './event-text.js'
import { sizeOf } from './heavy.js'
import type { CallRow, SaidRow } from './row.js'
import { asSaid, nameText, parametersText, textOf } from './text.js'

/** Characters of a result that a line has room for. */
const longestResult = 1000

type Unplaced<Row> = Omit<Row, 'key' | 'envelope' | 'depth' | 'height'>

/** What somebody thinks, says or does that has no fields of its own to show. */
export function saidLine(envelope: Envelope, owner: string | null, isLate: boolean): Unplaced<SaidRow> {
  const { kind, payload, from } = envelope
  const isByAnother = owner !== null && from !== owner && from !== GATEWAY
  const text = isWithheld(payload) ? null : said(envelope)
  return {
    type: 'said',
    name: isFree(kind) ? kind : thoughtName(kind),
    text,
    tone: toneOf(envelope),
    isByAnother,
    isLate,
  }
}

/** A kind that this version knows nothing of. */
const isFree = (kind: string): boolean => !reservedNamespaces.has(namespaceOf(kind))

function said(envelope: Envelope): string {
  const { kind, payload } = envelope
  if (isThought(kind)) return printable(withoutThoughtName(kind, thoughtText(payload)))
  if (isFree(kind)) return printable(payloadText(payload, asSaid))
  return (namespaceOf(kind) === 'reasoning' && kind !== Kind.reasoningCancel) || kind === Kind.chat
    ? textOf(envelope)
    : eventText(envelope)
}

function toneOf(envelope: Envelope): SaidRow['tone'] {
  if (isProblem(envelope)) return 'problem'
  if (!isThought(envelope.kind)) return 'event'
  return envelope.payload.phase === 'plan' ? 'plan' : 'thought'
}

export function callLine(
  { envelope, response }: CallEntry,
  proposalOf: (id: string) => ProposalView | undefined,
  isMuted: boolean,
): Unplaced<CallRow> {
  const isApproval = correlations(envelope).some((id) => isBySomebodyElse(proposalOf(id), envelope))
  return {
    type: 'call',
    tool: nameText(getToolName(envelope.payload)),
    parameters: parametersText(envelope),
    rationale: isMuted ? null : reasonOf(envelope),
    result: response === undefined ? null : resultOf(response),
    answeredAt: response?.ts ?? null,
    approvedBy: isApproval ? envelope.from : null,
  }
}

const reasonOf = ({ rationale, payload }: Envelope): string | null =>
  rationale === undefined && !isToolCall(payload) ? null : printable(reasonText(rationale ?? null))

/** What a call came to; of a long text the beginning, with the size of all of it. */
function resultOf(response: Envelope): Result {
  const result = readResult(response.payload, asSaid)
  const bytes = sizeOf(response)
  const size = bytes === undefined ? result.size : { count: bytes, unit: 'bytes' }
  return { ...result, size, text: printable(cut(result.text, longestResult)) }
}

const isBySomebodyElse = (proposal: ProposalView | undefined, request: Envelope): boolean =>
  proposal !== undefined && proposal.source.from !== request.from

/** What shows whether its context is open or not: what failed, what was refused, and what waits for a decision. */
export function isPressing(entry: Entry, proposalOf: (id: string) => ProposalView | undefined): boolean {
  switch (entry.type) {
    case 'proposal':
      return proposalOf(entry.envelope.id)?.state === 'open'
    case 'call':
      return entry.isError === true
    case 'said':
      return isProblem(entry.envelope)
    case 'nested':
      return false
  }
}

/** A thought about an error, or something that the gateway did not let pass. */
const isProblem = ({ kind, payload }: Envelope): boolean =>
  (isThought(kind) && payload.phase === 'error') ||
  (kind === Kind.systemDecision && payload.decision !== 'review')
