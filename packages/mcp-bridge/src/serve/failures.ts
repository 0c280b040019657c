import { ConnectionError, ProposalError, ProtocolError, ToolError } from '@meup/agent-sdk'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { messageOf } from '../errors.js'

interface Failure {
  /** Of the protocol, of the connection, or what became of a proposal. */
  readonly code: string
  /** What is wrong and what to do. */
  readonly message: string
}

function describe(error: unknown): Failure {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message }
  if (error instanceof ConnectionError) {
    return { code: error.code, message: `${error.message}; ${error.hint}` }
  }
  if (error instanceof ProposalError) return { code: error.outcome.state, message: error.message }
  if (error instanceof ToolError) return { code: 'tool_failed', message: `the tool failed: ${error.message}` }
  return { code: 'internal', message: messageOf(error) }
}

export const explain = (error: unknown): string => {
  const { code, message } = describe(error)
  return `${message} (${code})`
}

/** A refusal as the result of a tool: models read it, and may do better. */
export const failureResult = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: explain(error) }],
  structuredContent: { ...describe(error) },
})
