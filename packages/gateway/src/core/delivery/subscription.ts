import {
  checkWithin,
  compilePattern,
  contextParent,
  isShown,
  Kind,
  namespaceOf,
  type SubscribePayload,
  type WorkMeter,
} from '@meup/protocol'
import type { Entry } from '../../ports/envelope-log.js'

/** What one connection asked to see [MEUP-9.1]. Connections with the same `key` see the same. */
export interface Subscription {
  readonly asked: SubscribePayload
  readonly key: string
  /** Whether an envelope passes for a reader that it is neither from nor addressed to. */
  passes(entry: Entry): boolean
}

/** Namespaces that no subscription cuts [MEUP-8.3]. */
const uncut: ReadonlySet<string> = new Set(['mcp', 'system', 'capability', 'space', 'participant'])

/**
 * Steps that one envelope may take of one subscription. Anybody may subscribe, to whatever pattern: what is too long to
 * be decided on within these is what the pattern does not match [MEUP-9.3].
 */
const mostSteps = 2 ** 13

/** Throws `PatternError`, its path relative to the payload, for a pattern that does not compile. */
export function compileSubscription(asked: SubscribePayload, meter?: WorkMeter): Subscription {
  const tests: ((entry: Entry) => boolean)[] = []
  const { reasoning, contexts, excludeContexts, from, kinds } = asked
  if (reasoning !== undefined && reasoning !== 'full') tests.push((entry) => isShown(reasoning, entry))
  if (contexts) {
    const wanted = underAny(contexts, '/contexts', meter)
    tests.push(({ context }) => context === undefined || wanted(context))
  }
  if (excludeContexts) {
    const unwanted = underAny(excludeContexts, '/excludeContexts', meter)
    tests.push(({ context }) => context === undefined || !unwanted(context))
  }
  if (from) {
    const wanted = compilePattern(from, { path: '/from', meter })
    tests.push((entry) => wanted(entry.from))
  }
  if (kinds) {
    const wanted = compilePattern(kinds, { kinds: true, path: '/kinds', meter })
    tests.push(({ kind }) => wanted(kind))
  }
  return {
    asked,
    key: tests.length === 0 ? '' : JSON.stringify([reasoning, contexts, excludeContexts, from, kinds]),
    passes: (entry) => isUncut(entry) || checkWithin(mostSteps, () => tests.every((test) => test(entry))),
  }
}

const isUncut = ({ kind, context }: Entry): boolean =>
  uncut.has(namespaceOf(kind)) || (kind === Kind.chat && context === undefined)

/** A pattern names a context and everything below it. */
function underAny(
  patterns: string[],
  path: string,
  meter: WorkMeter | undefined,
): (context: string) => boolean {
  const matches = compilePattern(patterns, { path, meter })
  return (context) => {
    for (let at: string | undefined = context; at !== undefined; at = contextParent(at)) {
      if (matches(at)) return true
    }
    return false
  }
}
