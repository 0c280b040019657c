import {
  Calls,
  type ContextFold,
  createContextFold,
  isElicitation,
  type LiveAnswer,
  LiveAnswers,
  onOneLine,
  Participants,
  payloadText,
  RecentCalls,
  SpaceView,
  ThoughtSummaries,
  WaitingChats,
} from '@meup/folds'
import {
  type AnyEnvelope,
  contextParent,
  correlations,
  type EnvelopeOf,
  isThought,
  Kind,
  type WelcomePayload,
} from '@meup/protocol'
import { CallDescriber, type ShownCall } from '../render/tool-line.js'

type McpRequest = EnvelopeOf<typeof Kind.mcpRequest>

/** An agent with open runs. */
export interface Thinker {
  readonly agent: string
  /** Start of the agent's oldest open run, in ms, by the clock of this machine. */
  readonly since: number
  /** Number of open runs. */
  readonly runs: number
  /** Number of messages to the agent that it has not begun to answer. */
  readonly waiting: number
  /** Text of the latest thought; `''` if there is none yet. */
  readonly last: string
  /** Whether the thoughts are visible to other participants. */
  readonly isVisible: boolean
}

/** A tool call without a response. */
export interface RunningTool {
  readonly caller: string
  readonly call: ShownCall
  readonly since: number
  readonly progress?: { readonly done: number; readonly total?: number; readonly message?: string }
}

/** Start of an open context, and its latest thought. */
interface Thinking {
  readonly since: number
  last: string
}

/** Maximum number of remembered calls; the oldest are dropped. */
const maxTools = 1000

/**
 * Thinking agents, running tool calls and unfinished answers, as of the latest envelope: for the conversation, `meup top` and
 * `meup replay`.
 */
export class ActivityFold {
  readonly #now: () => number
  readonly #open = new Map<string, Thinking>()
  #space = this.#createView()

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The runs and their nested reasoning contexts, as of the latest envelope. */
  get contexts(): ContextFold {
    return this.#space.facts.contexts
  }

  get summaries(): ThoughtSummaries {
    return this.#space.facts.summaries
  }

  /** Replaces the open contexts with those in a welcome. */
  reset(welcome: WelcomePayload, isAnotherLog = false): void {
    if (isAnotherLog) this.#space = this.#createView()
    this.#space.onWelcome(welcome) // Learns about open contexts, so that their ends are recognized.
    const before = new Map(this.#open)
    this.#open.clear()
    for (const { context, startedAt } of welcome.contexts) {
      const since = Math.min(this.#now(), Date.parse(startedAt))
      this.#open.set(context, before.get(context) ?? { since, last: '' })
    }
  }

  onEnvelope(envelope: AnyEnvelope): void {
    for (const { context, state } of this.#space.apply(envelope)?.contexts.contexts ?? []) {
      if (state !== 'open') this.#open.delete(context)
      else if (!this.#open.has(context)) this.#open.set(context, { since: this.#now(), last: '' })
    }
    const { kind, context, payload } = envelope
    const open = this.#open.get(context ?? '')
    if (open !== undefined && isThought(kind)) {
      open.last = onOneLine(payloadText(payload as Record<string, unknown>).slice(-1000)) || open.last
    }
    if (kind === Kind.mcpRequest) this.#onProgress(envelope)
  }

  /** Thinking agents, in the order in which they started. */
  thinkers(): Thinker[] {
    const { contexts, waiting } = this.#space.facts
    const chats = waiting.list(contexts.states.open())
    const byAgent = new Map<string, Thinker>()
    for (const [context, { since, last }] of this.#open) {
      const agent = this.contexts.get(context)?.owner
      if (!agent) continue
      const isVisible = !this.contexts.states.withholds(context, agent)
      const known = byAgent.get(agent) ?? {
        ...{ agent, since, runs: 0, last: '', isVisible },
        waiting: chats.filter((each) => each.agent === agent).length,
      }
      const runs = known.runs + (contextParent(context) === undefined ? 1 : 0)
      byAgent.set(agent, { ...known, runs, last: last || known.last, isVisible })
    }
    return [...byAgent.values()]
  }

  tools(): RunningTool[] {
    return [...this.#space.facts.calls.open()].map(({ data }) => data)
  }

  answers(): LiveAnswer[] {
    return this.#space.facts.answers.list()
  }

  #createView() {
    const describer = new CallDescriber()
    const calls = new Calls<RunningTool>({
      store: new RecentCalls({ open: maxTools, over: 1 }),
      reduce: ({ what, call }, envelope) => {
        if (what !== 'asked') return call.data
        const shown = describer.describe(envelope as AnyEnvelope)
        if (shown === undefined) return undefined
        // Omits the question of an elicitation from the footer: the conversation has already printed it.
        const line = isElicitation(envelope.payload) ? { ...shown, args: '' } : shown
        return { caller: call.from, call: line, since: this.#now() }
      },
    })
    const participants = new Participants()
    return new SpaceView({
      participants,
      contexts: createContextFold(),
      calls,
      answers: new LiveAnswers(),
      summaries: new ThoughtSummaries(),
      waiting: new WaitingChats(participants),
    })
  }

  #onProgress(notification: McpRequest): void {
    const { method, params } = notification.payload
    if (method !== 'notifications/progress') return
    const { progress, total, message } = params ?? {}
    const { calls } = this.#space.facts
    for (const about of correlations(notification)) {
      const call = calls.get(about)
      if (call === undefined || typeof progress !== 'number') continue
      calls.setData(about, {
        ...call.data,
        progress: {
          done: progress,
          ...(typeof total === 'number' && total > 0 && { total }),
          ...(typeof message === 'string' && { message: onOneLine(message) }),
        },
      })
    }
  }
}
