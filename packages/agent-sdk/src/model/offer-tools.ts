import type { CallableTool } from '../agent/space-tools.js'
import type { CallOptions } from '../client/types.js'
import { showError } from './call-tools.js'
import { restoreNames } from './fit-schema.js'
import { type AskedArguments, askArguments, chooseRationale, isRecord, splitRationale } from './rationale.js'
import { type ShowOptions, showResult } from './results.js'
import { nameTools } from './toolbox.js'

/** A tool of the space as a model of any framework gets it. */
export interface ModelTool {
  /** `participant__tool`, in at most 48 letters, digits, `_` and `-`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments; the first one, which may be left out, asks why the call is made: `_rationale`. */
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object | boolean>>
    readonly [keyword: string]: unknown
  }
  /**
   * Calls it with what the model gave; the reason becomes `why`. Resolves with the result as a model reads it, also of a call that
   * fails or is refused. Rejects when it is aborted, or the connection is gone.
   */
  call(input: unknown, options?: Pick<CallOptions, 'signal' | 'timeoutMs'>): Promise<string>
}

/** Characters of a result that the model gets, which reads texts only. */
const show: ShowOptions = { maxChars: 65_536, takes: () => false }

/**
 * Makes tools of a space tools for a model: with names that every provider takes, and an argument for the reason of each call.
 * Hand them to a framework, which wants a name, a description, a JSON Schema and a function.
 */
export function offerTools(tools: readonly CallableTool[]): readonly ModelTool[] {
  return [...nameTools(tools)].map(([name, tool]) => {
    const asked = askArguments(tool.inputSchema)
    return {
      name,
      description: tool.description ?? '',
      inputSchema: asked.inputSchema,
      call: (input, options) => call(tool, asked, input, options),
    }
  })
}

async function call(
  tool: CallableTool,
  { rationaleKey, propertyNames }: AskedArguments,
  input: unknown,
  options: Pick<CallOptions, 'signal' | 'timeoutMs'> = {},
): Promise<string> {
  const { args, rationale: given } = splitRationale(isRecord(input) ? input : {}, rationaleKey)
  const why = chooseRationale({ given, args, commentary: '', summary: '' })
  try {
    return showResult(
      await tool.call(restoreNames(args, propertyNames), { ...options, ...(why !== undefined && { why }) }),
      show,
    ).text
  } catch (error) {
    return showError(error, show).text
  }
}
