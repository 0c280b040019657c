import { ToolError } from '@meup/agent-sdk'
import { printable } from '@meup/folds'
import { print, printJson } from '../output.js'

/** Prints the result of an MCP request: the text of a tool, or JSON. Throws `ToolError` where the tool says it failed. */
export function printResult(
  result: Readonly<Record<string, unknown>>,
  json: boolean | undefined,
  beside: object = {},
): void {
  const { content, isError } = result
  const blocks = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : undefined
  const text = blocks?.flatMap((block) => (typeof block?.text === 'string' ? block.text : [])).join('\n')
  if (isError === true) throw new ToolError(text || 'the tool failed without saying why')
  if (json || text === undefined) printJson({ ...result, ...beside })
  else print(printable(text))
}
