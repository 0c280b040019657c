import { compilePattern } from '@meup/protocol'

/** A tool of another participant. */
export interface SpaceTool {
  readonly participant: string
  readonly name: string
  readonly description?: string
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** What MCP lets a tool say of itself, such as `readOnlyHint`. */
  readonly annotations?: Readonly<Record<string, unknown>>
  /** All that its participant says of it in `tools/list`: `title`, `outputSchema` and more. */
  readonly definition?: Readonly<Record<string, unknown>>
}

/**
 * Which tools a model may call: `participant/tool`, both of them patterns as in capabilities, such as `files/read_*`;
 * `files/*` and `files` are all tools of `files`, `*` those of everybody. What begins with `!` excludes: `!files/write_*`; if
 * nothing else is given, all others of the default are chosen: the tools of participants of the kind `mcp`. A tool that is known already is given as such, and not asked for.
 */
export type ToolChoice = string | SpaceTool

interface Rule {
  readonly excludes: boolean
  readonly whose: (participant: string) => boolean
  /** `undefined`: all of them. */
  readonly which: ((tool: string) => boolean) | undefined
}

/**
 * Compiles choices to a test of a tool, or of whether any tool of a participant can be chosen. `isDefault`: whose tools are chosen
 * where nothing is but what they exclude. Throws `PatternError`.
 */
export function compileChoices(
  choices: readonly ToolChoice[] | undefined,
  isDefault: (participant: string) => boolean,
): (participant: string, tool?: string) => boolean {
  const rules = (choices ?? []).flatMap((choice, index) =>
    typeof choice === 'string' ? [parseRule(choice, `/tools/${index}`)] : [],
  )
  const excluding = rules.filter(({ excludes }) => excludes)
  const including = rules.filter(({ excludes }) => !excludes)
  const isOpen = choices === undefined || (excluding.length > 0 && excluding.length === choices.length)
  return (participant, tool) => {
    const isAbout = ({ whose }: Rule): boolean => whose(participant)
    const included = including.filter(isAbout)
    const excluded = excluding.filter(isAbout)
    const isChosen = isOpen && isDefault(participant)
    if (tool === undefined) return (isChosen || included.length > 0) && excluded.every(({ which }) => which)
    const matches = ({ which }: Rule): boolean => which === undefined || which(tool)
    return (isChosen || included.some(matches)) && !excluded.some(matches)
  }
}

function parseRule(choice: string, path: string): Rule {
  const excludes = choice.startsWith('!')
  const pattern = excludes ? choice.slice(1) : choice
  const slash = pattern.indexOf('/')
  const [whose, which] = slash < 0 ? [pattern, '*'] : [pattern.slice(0, slash), pattern.slice(slash + 1)]
  return {
    excludes,
    whose: compilePattern(whose, { path }),
    which: which === '*' ? undefined : compilePattern(which, { path }),
  }
}
