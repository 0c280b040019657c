/** A request to a model, for any API. */
export interface ModelRequest {
  /** The user's last message, with additions of its agent. */
  readonly lastUserText: string
  /** Results of tools since then, in order. */
  readonly toolResults: readonly string[]
}

/** A call of a tool that every coding agent has, by a name and with arguments of its own. */
export type ToolUse =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'edit'; readonly path: string; readonly before: string; readonly after: string }
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string; readonly args: object }

export const shell = (command: string): ToolUse => ({ kind: 'shell', command })
/** Paths are relative to the folder that the agent works in. */
export const write = (path: string, text: string): ToolUse => ({ kind: 'write', path, text })
export const read = (path: string): ToolUse => ({ kind: 'read', path })
/** Whole lines. An agent wants to have read the file before. */
export const edit = (path: string, before: string, after: string): ToolUse => ({
  kind: 'edit',
  path,
  before,
  after,
})
/** A tool of an MCP server that the session was given. */
export const mcp = (server: string, tool: string, args: object): ToolUse => ({
  kind: 'mcp',
  server,
  tool,
  args,
})

/** A model's answer, in this order. */
export interface ModelAnswer {
  readonly thought?: string
  readonly text?: string
  readonly tool?: ToolUse
}

/** The first rule that holds answers. Agents ask as often as they like: rules look at what is asked, not at how often. */
export interface ModelRule extends ModelAnswer {
  when(request: ModelRequest): boolean
}
