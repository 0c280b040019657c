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
import { UsageError } from '../lib/exit.js'
import type { Following } from '../render/agent-lines.js'
import type { LineRenderer, MarkFlags } from '../render/conversation.js'
import type { Completer } from './keyboard.js'
import type { Surface } from './surface.js'

export interface ViewFlags extends ConnectionFlags, MarkFlags {
  readonly verbose?: boolean
  readonly screenReader?: boolean
}

/** The view of a space in a command. */
export interface View extends Omit<Surface, 'choose' | 'columns'> {
  show(envelope: AnyEnvelope): void
  /** Takes note of an earlier envelope, which is not shown. */
  learn(envelope: AnyEnvelope): void
  /** Appends what follows the envelope that was shown last. */
  append(envelope: AnyEnvelope, following: Following): void
  toggleThoughts(): void
  readonly showsThoughts: boolean
  toggleOutput(): void
  /** Creates a renderer of the same kind for past envelopes. */
  past(): LineRenderer
  /** Changes the filter; resolves with the welcome of the gateway. */
  choose(filter: ViewFilter): Promise<WelcomePayload>
  /** The current filter; absent = everything. */
  readonly filter: ViewFilter | undefined
  /** Asks the user to choose; `undefined` = none. */
  ask(question: string, choices: readonly string[]): Promise<number | undefined>
}

export interface ViewFilter {
  /** The subscription at the gateway; `undefined` = everything. */
  readonly subscription: SubscribePayload | undefined
  /** For people; absent = everything. */
  readonly name?: string
  includes(envelope: AnyEnvelope): boolean
}

export interface ViewOptions {
  /** Whether input is accepted. */
  readonly echoes: boolean
  readonly completer?: Completer
  /** The only readers of the input; absent = everyone. */
  readonly audience?: readonly string[]
  /** A one-line summary of the open proposals. */
  readonly pending?: () => string | undefined
  /** Additional key bindings. One that returns `false` had nothing to do. */
  readonly keys?: Readonly<Record<string, () => unknown>>
  /** The filter of the command. */
  readonly filter?: ViewFilter
}

export interface FilterFlags {
  readonly context?: string
  readonly agent?: readonly string[]
  readonly kind?: readonly string[]
  readonly reasoning?: string
}

/** A filter made of flags. `subscription` lets more pass than `includes`: the gateway always sends tool calls and answers. */
interface Filter extends ViewFilter {
  /** The same filter for reading the log. */
  readonly query: LogQuery
}

const details: readonly string[] = ['full', 'summary', 'boundaries', 'none'] satisfies readonly Detail[]
const isDetail = (text: string): text is Detail => details.includes(text)

/** The filter of these flags; without any it includes everything. Throws `UsageError`. */
export function readFilter({ context, agent, kind, reasoning = 'full' }: FilterFlags): Filter {
  if (!isDetail(reasoning))
    throw new UsageError(`--reasoning is full, summary, boundaries or none, not ${reasoning}`)
  if (context !== undefined && parseContext(context, anyContext) === undefined)
    throw new UsageError(`--context is a path such as run or run/step, not ${context}`)
  const subscription = omitUndefined({
    reasoning: reasoning === 'full' ? undefined : reasoning,
    contexts: context === undefined ? undefined : [context],
    from: agent && [...agent],
    kinds: kind && [...kind],
  })
  return {
    subscription: Object.keys(subscription).length === 0 ? undefined : subscription,
    // Summaries only arrive live.
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
