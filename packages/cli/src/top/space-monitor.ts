import {
  brief,
  defaultGuard,
  describe,
  describeState,
  isToolCall,
  onOneLine,
  readRunUsage,
  type StateText,
} from '@meup/folds'
import { type AnyEnvelope, isThought, Kind, namespaceOf, type ParticipantDetails } from '@meup/protocol'

/** Sliding windows, in ms, over which messages, calls and tokens are counted. */
const windows = { messages: 10_000, calls: 60_000, tokens: 3_600_000 } as const
/** Number of time slots of a window; each has one sum, and leaves the window as a whole. */
const parts = 60
const maxLastChars = 200

/** Activity of a participant. */
export interface Work {
  readonly id: string
  readonly kind: string
  readonly state: StateText
  readonly runs: number
  /** Start of the oldest open run, in ms since the epoch. */
  readonly thinksSince?: number
  /** Whether it waits for a decision on a proposal of its own. */
  readonly isWaiting?: true
  readonly messagesPerSecond: number
  readonly callsPerMinute: number
  readonly tokensPerHour: number
  /** Description of the last activity; `''` if unknown. */
  readonly last: string
  /** Id of the participant's last call, proposal or chat. */
  readonly lastAct?: string
}

/** Open runs of an agent. */
interface Thinking {
  readonly agent: string
  readonly runs: number
  /** Start of the agent's oldest open run, in ms since the epoch. */
  readonly since: number
}

/** Open runs, and participants that wait for a decision. */
interface Doing {
  readonly thinking: readonly Thinking[]
  readonly waiting: ReadonlySet<string>
}

interface Counts {
  readonly messages: WindowSum
  readonly calls: WindowSum
  readonly tokens: WindowSum
  last: string
  lastAct?: string
}

/** Counts the activity of participants in sliding windows. All times are gateway time. */
export class SpaceMonitor {
  readonly #counts = new Map<string, Counts>()

  /** Applies an envelope, in log order. */
  apply(envelope: AnyEnvelope): void {
    this.applyActivity(envelope)
    this.applySpend(envelope)
  }

  /** Counts messages and calls. */
  applyActivity(envelope: AnyEnvelope): void {
    const { id, kind, from, ts } = envelope
    if (kind === Kind.chatDelta || namespaceOf(kind) === namespaceOf(Kind.systemWelcome)) return
    const counts = this.#countsOf(from)
    const at = Date.parse(ts)
    counts.messages.add(at, 1)
    const isCall = kind === Kind.mcpRequest && isToolCall({ ...envelope.payload })
    if (isCall) counts.calls.add(at, 1)
    counts.last = describeLast(envelope) || counts.last
    if (isCall || kind === Kind.mcpProposal || kind === Kind.chat) counts.lastAct = id
  }

  /** Counts the tokens of a concluded run. */
  applySpend({ kind, from, ts, payload }: AnyEnvelope): void {
    if (kind !== Kind.reasoningConclusion) return
    const { input = 0, output = 0 } = readRunUsage(payload.metadata).tokens
    this.#countsOf(from).tokens.add(Date.parse(ts), input + output)
  }

  /** All participants, busiest first. `now`: gateway time, in ms. */
  list(participants: readonly ParticipantDetails[], doing: Doing, now: number): Work[] {
    return participants.map((each) => this.#describe(each, doing, now)).sort(compareWork)
  }

  #describe(participant: ParticipantDetails, { thinking, waiting }: Doing, now: number): Work {
    const { id, kind } = participant
    const own = thinking.find(({ agent }) => agent === id)
    const counts = this.#counts.get(id)
    const perSecond = (counts?.messages.sum(now) ?? 0) / (windows.messages / 1000)
    return {
      ...{ id, kind, runs: own?.runs ?? 0 },
      state: describeState(participant, now),
      ...(own && { thinksSince: own.since }),
      ...(waiting.has(id) && { isWaiting: true }),
      messagesPerSecond: perSecond,
      callsPerMinute: counts?.calls.sum(now) ?? 0,
      tokensPerHour: counts?.tokens.sum(now) ?? 0,
      last: counts?.last ?? '',
      ...(counts?.lastAct !== undefined && { lastAct: counts.lastAct }),
    }
  }

  #countsOf(id: string): Counts {
    const known = this.#counts.get(id)
    if (known !== undefined) return known
    const counts: Counts = {
      messages: new WindowSum(windows.messages),
      calls: new WindowSum(windows.calls),
      tokens: new WindowSum(windows.tokens),
      last: '',
    }
    this.#counts.set(id, counts)
    return counts
  }
}

/**
 * Describes an activity: `"No."`, `→ files/read_text_file report.txt`, `· It looks right`; `''` if there is nothing to show.
 */
function describeLast(envelope: AnyEnvelope): string {
  const { kind } = envelope
  const { object, detail } = describe(envelope, defaultGuard)
  if (kind === Kind.chat) return `"${brief(detail, maxLastChars)}"`
  if (kind === Kind.mcpRequest || kind === Kind.mcpProposal)
    return brief(onOneLine(`→ ${object} ${detail}`), maxLastChars)
  return isThought(kind) && detail !== '' ? `· ${brief(onOneLine(detail), maxLastChars)}` : ''
}

/** States of programs that need the user's attention, so that lists of participants show them above idle ones. */
const troubled: ReadonlySet<StateText['name']> = new Set(['failed', 'restarting', 'resting', 'starting'])

function compareWork(one: Work, other: Work): number {
  const keys = ({ state, ...work }: Work): number[] => [
    Math.round(work.messagesPerSecond),
    work.runs,
    troubled.has(state.name) ? 1 : 0,
    work.tokensPerHour,
    state.name === 'away' ? 0 : 1,
  ]
  const [a, b] = [keys(one), keys(other)]
  const at = a.findIndex((value, index) => value !== b[index])
  if (at !== -1) return (b[at] ?? 0) - (a[at] ?? 0)
  return one.id < other.id ? -1 : 1
}

/** A sum over a sliding window that ends at `now`. */
class WindowSum {
  readonly #partMs: number
  /** Sums by index of the time slot. */
  readonly #sums = new Map<number, number>()

  constructor(windowMs: number) {
    this.#partMs = windowMs / parts
  }

  add(at: number, value: number): void {
    const part = Math.floor(at / this.#partMs)
    this.#sums.set(part, (this.#sums.get(part) ?? 0) + value)
    for (const old of this.#sums.keys()) if (this.#sums.size > 2 * parts) this.#sums.delete(old)
  }

  sum(now: number): number {
    const first = Math.floor(now / this.#partMs) - parts
    return [...this.#sums].reduce((sum, [part, value]) => sum + (part > first ? value : 0), 0)
  }
}
