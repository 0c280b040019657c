import { compilePattern } from '@meup/protocol'

/** A tool that a participant offers to the space. */
export interface SpaceTool {
  readonly participant: string
  readonly name: string
  readonly description?: string
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** MCP annotations of the tool, such as `readOnlyHint`. */
  readonly annotations?: Readonly<Record<string, unknown>>
  /** The complete definition in `tools/list`: `title`, `outputSchema` and more. */
  readonly definition?: Readonly<Record<string, unknown>>
}

/**
 * Selects tools for a model as `participant/tool`, with patterns like those of capabilities, such as `files/read_*`. `files/*`
 * and `files` select all tools of `files`; `*` selects those of all participants. `!` excludes: `!files/write_*`. If there are
 * only exclusions, they apply to the default: the tools of participants of kind `mcp`. A known tool may be passed as an object,
 * and is not requested.
 */
export type ToolChoice = string | SpaceTool

interface Rule {
  readonly excludes: boolean
  readonly whose: (participant: string) => boolean
  /** Selects tools of the participant by name; `undefined` = all its tools. */
  readonly which: ((tool: string) => boolean) | undefined
}

/**
 * Compiles choices to a predicate: whether a tool is chosen or, without `tool`, whether the participant may have a chosen one.
 * `isDefault`: participants whose tools are chosen if there are only exclusions. Throws `PatternError`.
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
