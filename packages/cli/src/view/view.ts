import type { LogQuery } from '@meup/agent-sdk/http'
import {
  type AnyEnvelope,
  anyContext,
  type Detail,
  isShown,
  omitUndefined,
  parseContext,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import type { ConnectionFlags } from '../lib/connection.js'
import { invalidValue } from '../lib/exit.js'
import type { Following } from '../render/agent-lines.js'
import type { LineRenderer, MarkFlags } from '../render/conversation.js'
import type { Completer } from './keyboard.js'
import type { Surface } from './surface.js'

export interface ViewFlags extends ConnectionFlags, MarkFlags {
  readonly verbose?: boolean
  readonly screenReader?: boolean
}

/** How a command shows a space. */
export interface View extends Omit<Surface, 'choose' | 'columns'> {
  show(envelope: AnyEnvelope): void
  /** Records the calls and proposals of an earlier envelope, which later lines refer to, without printing it. */
  learn(envelope: AnyEnvelope): void
  /** Prints the lines that belong below the envelope shown last. */
  append(envelope: AnyEnvelope, following: Following): void
  toggleThoughts(): void
  readonly showsThoughts: boolean
  toggleOutput(): void
  /** Creates a renderer like that of this view, but without its state, to print earlier envelopes. */
  past(): LineRenderer
  /** Changes the filter; resolves to the gateway's new welcome. */
  choose(filter: ViewFilter): Promise<WelcomePayload>
  /** The current filter; absent if everything is shown. */
  readonly filter: ViewFilter | undefined
  /** Asks the user to choose; `undefined` if none is chosen, or `signal` is aborted. */
  ask(question: string, choices: readonly string[], signal?: AbortSignal): Promise<number | undefined>
}

export interface ViewFilter {
  /** The filter as the gateway applies it to this connection; `undefined` = the gateway sends everything. */
  readonly subscription: SubscribePayload | undefined
  /** Name of the filter for display; absent for everything. */
  readonly name?: string
  includes(envelope: AnyEnvelope): boolean
}

export interface ViewOptions {
  /** Whether there is an input line. */
  readonly echoes: boolean
  readonly completer?: Completer
  /** The only readers of typed messages; absent if everyone is. */
  readonly audience?: readonly string[]
  /** One-line summary of open proposals. */
  readonly pending?: () => string | undefined
  /** Further key bindings. A binding returns `false` if there was nothing to do. */
  readonly keys?: Readonly<Record<string, () => unknown>>
  /** The initial filter. */
  readonly filter?: ViewFilter
}

export interface FilterFlags {
  readonly context?: string
  readonly agent?: readonly string[]
  readonly kind?: readonly string[]
  readonly reasoning?: string
}

/**
 * A filter from flags. Its `subscription` may let more through than `includes`, because the gateway always sends tool calls and
 * answers.
 */
interface Filter extends ViewFilter {
  /** The query that selects from the log the envelopes that the filter includes. */
  readonly query: LogQuery
}

const details: readonly string[] = ['full', 'summary', 'boundaries', 'none'] satisfies readonly Detail[]
const isDetail = (text: string): text is Detail => details.includes(text)

/** Parses filter flags; without flags, everything is included. Throws `UsageError`. */
export function readFilter({ context, agent, kind, reasoning = 'full' }: FilterFlags): Filter {
  if (!isDetail(reasoning)) throw invalidValue('--reasoning', 'reasoning', reasoning)
  if (context !== undefined && parseContext(context, anyContext) === undefined)
    throw invalidValue('--context', 'context', context)
  const subscription = omitUndefined({
    reasoning: reasoning === 'full' ? undefined : reasoning,
    contexts: context === undefined ? undefined : [context],
    from: agent && [...agent],
    kinds: kind && [...kind],
  })
  return {
    subscription: Object.keys(subscription).length === 0 ? undefined : subscription,
    // Summaries of thoughts are only sent live and not logged, so the log is read without thoughts instead.
    query: omitUndefined({
      reasoning: reasoning === 'summary' ? 'boundaries' : reasoning,
      context,
      from: agent,
      kind,
    }),
    includes: (envelope) =>
      isShown(reasoning, envelope) &&
      (context === undefined || isWithin(envelope.context, context)) &&
      (agent === undefined || agent.includes(envelope.from)) &&
      (kind === undefined || kind.includes(envelope.kind)),
  }
}

const isWithin = (context: string | undefined, around: string): boolean =>
  context === around || context?.startsWith(`${around}/`) === true
