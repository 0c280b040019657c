import { type Capability, escapePattern, Kind, type Subject } from '@meup/protocol'

/** Maximum characters of a tool name in a capability. */
const maxToolChars = 128

/**
 * The narrowest capability that would allow an envelope, with any arguments; for a tool call in the form `{ tool }` [MEUP-4.7].
 * Escapes the name of the tool, because the sender chose it, and as a pattern it could match other tools.
 */
export function getNarrowestCapability({ kind, to = [], payload }: Subject): Capability {
  const { method, params } = Object(payload) as { readonly method?: unknown; readonly params?: unknown }
  const { name } = Object(params) as { readonly name?: unknown }
  const [first, ...others] = to
  if (kind === Kind.mcpRequest && method === 'tools/call' && typeof name === 'string' && others.length === 0)
    return { tool: `${first ?? '*'}/${escapePattern(name.slice(0, maxToolChars))}` }
  return first === undefined ? kind : { kind, to: others.length === 0 ? first : [first, ...others] }
}
