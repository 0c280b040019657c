/** A request to a model, independent of the provider's API. */
export interface ModelRequest {
  /** The user's last message, with text that the agent has added. */
  readonly lastUserText: string
  /** Results of tools since the user's last message, in order. */
  readonly toolResults: readonly string[]
}

/** A use of a tool that every coding agent has, though its name and arguments differ. */
export type ToolUse =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'edit'; readonly path: string; readonly before: string; readonly after: string }
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string; readonly args: object }

export const shell = (command: string): ToolUse => ({ kind: 'shell', command })
/** Writes a file. Its path is relative to the agent's working folder. */
export const write = (path: string, text: string): ToolUse => ({ kind: 'write', path, text })
export const read = (path: string): ToolUse => ({ kind: 'read', path })
/** Replaces whole lines of a file. An agent must have read the file before. */
export const edit = (path: string, before: string, after: string): ToolUse => ({
  kind: 'edit',
  path,
  before,
  after,
})
/** A call of a tool of an MCP server that the session has. */
export const mcp = (server: string, tool: string, args: object): ToolUse => ({
  kind: 'mcp',
  server,
  tool,
  args,
})

/** A model's answer. Its parts come in the order of the fields. */
export interface ModelAnswer {
  readonly thought?: string
  readonly text?: string
  readonly tool?: ToolUse
}

/**
 * A rule for answers: the first rule whose `when` is true answers. Rules depend on the request only, because agents may repeat
 * requests.
 */
export interface ModelRule extends ModelAnswer {
  when(request: ModelRequest): boolean
}
