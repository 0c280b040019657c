import { omitUndefined } from '@meup/protocol'
import type { CallableTool } from '../agent/space-tools.js'
import type { CallOptions } from '../client/types.js'
import { showError } from './call-tools.js'
import { restoreNames } from './fit-schema.js'
import { type AskedArguments, askArguments, chooseRationale, isRecord, splitRationale } from './rationale.js'
import { type ShowOptions, showResult } from './results.js'
import { nameTools } from './toolbox.js'

/** A tool of the space, described for a model of any framework. */
export interface ModelTool {
  /** `participant__tool`, in at most 48 letters, digits, `_` and `-`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. The first property, `_rationale`, is optional and asks for the reason of the call. */
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object | boolean>>
    readonly [keyword: string]: unknown
  }
  /**
   * Makes the call with the model's input; its `_rationale` becomes `why`. Resolves with the result as text for a model, even
   * if the call fails or is refused. Rejects if it is aborted or the connection is closed.
   */
  call(input: unknown, options?: Pick<CallOptions, 'signal' | 'timeoutMs'>): Promise<string>
}

/** Results for a model that only reads text. */
const show: ShowOptions = { maxChars: 65_536, takes: () => false }

/**
 * Converts tools of a space for a model: with names that every provider accepts, and an argument for the reason of a call. Pass
 * the results to any framework that defines tools by name, description, JSON Schema and function.
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
      await tool.call(restoreNames(args, propertyNames), { ...options, ...omitUndefined({ why }) }),
      show,
    ).text
  } catch (error) {
    return showError(error, show).text
  }
}
