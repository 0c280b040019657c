import type { LogQuery } from '@meup/agent-sdk/http'
import {
  type AnyEnvelope,
  anyContext,
  type Detail,
  isShown,
  parseContext,
  type SubscribePayload,
} from '@meup/protocol'
import { UsageError } from '../lib/exit.js'
import { omitUndefined } from '../lib/options.js'

export interface FilterFlags {
  readonly context?: string
  readonly agent?: readonly string[]
  readonly kind?: readonly string[]
  readonly reasoning?: string
}

/** A filter for the envelopes of a space. */
export interface Filter {
  /** Asked of the gateway, which then sends less: but tools, answers, and what is told to all come all the same. */
  readonly subscription: SubscribePayload | undefined
  /** The same for the log, which gives nothing else. */
  readonly query: LogQuery
  includes(envelope: AnyEnvelope): boolean
}

const details: readonly string[] = ['full', 'boundaries', 'none'] satisfies readonly Detail[]
const isDetail = (text: string): text is Detail => details.includes(text)

/** Reads the flags; without any, everything is wanted. Throws `UsageError`. */
export function readFilter({ context, agent, kind, reasoning = 'full' }: FilterFlags): Filter {
  if (!isDetail(reasoning)) throw new UsageError(`--reasoning is full, boundaries or none, not ${reasoning}`)
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
    query: omitUndefined({ reasoning, context, from: agent, kind }),
    includes: (envelope) =>
      isShown(reasoning, envelope) &&
      (context === undefined || isWithin(envelope.context, context)) &&
      (agent === undefined || agent.includes(envelope.from)) &&
      (kind === undefined || kind.includes(envelope.kind)),
  }
}

const isWithin = (context: string | undefined, around: string): boolean =>
  context === around || context?.startsWith(`${around}/`) === true
