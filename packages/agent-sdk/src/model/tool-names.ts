/** A tool of another participant. */
export interface SpaceTool {
  readonly participant: string
  readonly name: string
  readonly description?: string
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** What every provider accepts as the name of a tool: at most this many letters, digits, `_` and `-`. */
const longest = 64

/**
 * Names by which a model calls the tools: `participant__tool`, without what providers refuse. Where two would be alike,
 * or one too long, the later ones get a number. The same tools in the same order have the same names.
 */
export function nameTools<Tool extends Pick<SpaceTool, 'participant' | 'name'>>(
  tools: readonly Tool[],
): Map<string, Tool> {
  const named = new Map<string, Tool>()
  for (const tool of tools) {
    const plain = `${tool.participant}__${tool.name}`.replace(/[^\w-]/g, '_')
    const wanted = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`
    named.set(freeName(wanted, named), tool)
  }
  return named
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const name = `${wanted.slice(0, longest - suffix.length)}${suffix}`
    if (!taken.has(name)) return name
  }
}
