import { ToolError } from './errors.js'

/** What a tool gave back. */
export interface ToolResult {
  /** The text blocks, joined by newlines. */
  readonly text: string
  /** Every content block, as the tool sent it. */
  readonly content: readonly Record<string, unknown>[]
  /** `structuredContent`, where the tool sends it. */
  readonly data: unknown
  /** Who made the request, where the asker may not and somebody approved its proposal. */
  readonly approvedBy?: string
}

/** Reads an MCP tool result; throws `ToolError` where the tool says that it failed. */
export function readToolResult(result: Record<string, unknown>): ToolResult {
  const content = Array.isArray(result.content) ? (result.content as Record<string, unknown>[]) : []
  const text = content
    .map((block) => block.text)
    .filter((part) => typeof part === 'string')
    .join('\n')
  if (result.isError === true) throw new ToolError(text || 'the tool failed without saying why')
  return { text, content, data: result.structuredContent }
}
