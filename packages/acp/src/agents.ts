import { hasInput } from './agent-call.js'
import type { AgentCallFields } from './agent-updates.js'

/** A supported coding agent: how to start it, and the names of its tools. */
export interface KnownAgent {
  /** The agent's name in `agentInfo` of its `initialize` response. */
  readonly info: string
  readonly command: string
  readonly args: readonly string[]
  /** The agent's npm package, such as `opencode-ai`. */
  readonly package: string
  /** The command that logs in to the agent's provider, for errors. */
  readonly login: string
  /** The session mode in which the agent asks before it edits files and runs commands; absent if its default mode asks. */
  readonly mode?: string
  /** Environment variables that make the agent ask for permission, if it has no mode for that. */
  readonly env?: Readonly<Record<string, string>>
  /** The agent reports a tool call as `in_progress` before it asks for permission. */
  readonly asksLate?: true
  /** The names of the agent's usual tools in the space. */
  readonly tools: readonly string[]
  /** The agent's limitations, for the table of agents in the docs. */
  readonly limits: string
  /** Derives a tool's name from a call; needed if the agent does not send `name`. */
  toolName?(call: AgentCallFields): string | undefined
}

const byKind =
  (names: Readonly<Record<string, string>>) =>
  ({ kind }: AgentCallFields): string | undefined =>
    names[kind ?? '']

/** Names of opencode's tools, by ACP's `kind`. */
const opencodeTools: Readonly<Record<string, string>> = {
  execute: 'bash',
  edit: 'edit',
  read: 'read',
  search: 'grep',
  fetch: 'webfetch',
}

export const knownAgents = {
  opencode: {
    info: 'OpenCode',
    command: 'opencode',
    args: ['acp'],
    package: 'opencode-ai',
    login: 'opencode auth login',
    env: { OPENCODE_PERMISSION: JSON.stringify({ bash: 'ask', edit: 'ask', webfetch: 'ask' }) },
    asksLate: true,
    tools: ['bash', 'edit', 'write', 'read', 'glob', 'grep', 'list', 'webfetch'],
    limits: 'reads, lists and searches without asking',
    // The first message of a call has the tool's name as title and no input; later messages have a title by the model.
    toolName: ({ title, kind, rawInput }) => (hasInput(rawInput) ? opencodeTools[kind ?? ''] : title),
  },
  gemini: {
    info: 'gemini-cli',
    command: 'gemini',
    args: ['--acp'],
    package: '@google/gemini-cli',
    login: 'gemini, then /auth',
    mode: 'default',
    tools: ['run_shell_command', 'write_file', 'replace', 'read_file'],
    limits:
      'reads without asking; shows no output of commands; cannot load a session, so it starts over after a restart',
    toolName: ({ id }) => /^(\w+?)__/.exec(id)?.[1],
  },
  codex: {
    info: '@agentclientprotocol/codex-acp',
    command: 'codex-acp',
    args: [],
    package: '@agentclientprotocol/codex-acp',
    login: 'codex login',
    mode: 'read-only',
    asksLate: true,
    tools: ['exec_command', 'apply_patch'],
    limits:
      'runs what its sandbox allows without asking; a cancel does not stop a command that runs, so it is killed with it',
    toolName: byKind({ execute: 'exec_command', edit: 'apply_patch' }),
  },
  claude: {
    info: '@agentclientprotocol/claude-agent-acp',
    command: 'claude-agent-acp',
    args: [],
    package: '@agentclientprotocol/claude-agent-acp',
    login: 'claude, then /login',
    mode: 'default',
    tools: ['Bash', 'Edit', 'Write', 'Read'],
    limits: 'reads without asking',
  },
  copilot: {
    info: 'Copilot',
    command: 'copilot',
    args: ['--acp', '--no-auto-update'],
    package: '@github/copilot',
    login: 'copilot login',
    tools: ['execute', 'edit', 'read'],
    limits: 'does not name its tools: they are called by their kind, such as execute',
  },
  qwen: {
    info: 'qwen-code',
    command: 'qwen',
    args: ['--acp'],
    package: '@qwen-code/qwen-code',
    login: 'qwen, then /auth',
    mode: 'default',
    tools: ['execute', 'edit', 'read'],
    limits: 'reads without asking',
  },
} as const satisfies Record<string, KnownAgent>

export type AgentName = keyof typeof knownAgents

/** Finds a known agent by its name in `agentInfo`. */
export const findAgent = (info: string | undefined): KnownAgent | undefined =>
  Object.values<KnownAgent>(knownAgents).find((agent) => agent.info === info)

/** Names that need no escaping in a capability. */
const plainName = /^[\w.-]{1,64}$/

/** The tool's name in the space: `name` of the call, else the name by the known agent, else ACP's `kind`. */
export function nameTool(call: AgentCallFields, agent: KnownAgent | undefined): string {
  const names = [call.name, agent?.toolName?.(call), call.kind]
  return names.find((name) => name !== undefined && plainName.test(name)) ?? 'other'
}
