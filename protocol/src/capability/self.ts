import type { Capability } from './schema.js'

/** Stands for whoever uses it, unless a participant of the space is called so. */
export const SELF = 'me'

/**
 * Capabilities as one participant has them: `{ tool: "me/*" }`, in a configuration, is about its own tools. `names`: the configured
 * participants.
 */
export const resolveSelf = (
  capabilities: readonly Capability[],
  id: string,
  names: Readonly<Record<string, unknown>>,
): readonly Capability[] =>
  Object.hasOwn(names, SELF)
    ? capabilities
    : capabilities.map((each) =>
        typeof each === 'object' && 'tool' in each && each.tool.startsWith(`${SELF}/`)
          ? { ...each, tool: `${id}${each.tool.slice(SELF.length)}` }
          : each,
      )
