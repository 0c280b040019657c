import type { Capability } from './schema.js'

/** Represents the participant that holds the capability, unless a participant has this id. */
export const SELF = 'me'

/**
 * Resolves `me` in a participant's configured capabilities: `{ tool: "me/*" }` means its own tools. `names`: the configured
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
