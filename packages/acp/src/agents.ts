import { isFilled } from './agent-call.js'
import type { CallFields } from './agent-updates.js'

/** A coding agent whose ways are known: how it is started, and what it calls its own tools. */
export interface KnownAgent {
  /** As in `agentInfo` of its `initialize`. */
  readonly info: string
  readonly command: string
  readonly args: readonly string[]
  /** The npm package that it is in. */
  readonly package: string
  /** What to do where it wants to know who uses it. */
  readonly login: string
  /** The mode of a session in which it asks before it edits and runs commands, where that is not its own first one. */
  readonly mode?: string
  /** Makes it ask where no mode does. */
  readonly env?: Readonly<Record<string, string>>
  /** It says that a tool is in progress before it asks whether it may run it. */
  readonly asksLate?: true
  /** What its usual tools are called in the space. */
  readonly tools: readonly string[]
  /** What it cannot do, or does in its own way. */
  readonly limits: string
  /** The name of a tool, where the calls do not say it in `name`. */
  toolName?(call: CallFields): string | undefined
}

const byKind =
  (names: Readonly<Record<string, string>>) =>
  ({ kind }: CallFields): string | undefined =>
    names[kind ?? '']

/** Names of opencode's tools, by the `kind` of ACP. */
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
    // Its first message has the tool as its title; later ones have what the model has written.
    // With an input, the title is text of the model.
    toolName: ({ title, kind, rawInput }) => (isFilled(rawInput) ? opencodeTools[kind ?? ''] : title),
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

/** The agent that introduces itself by this name. */
export const findAgent = (info: string | undefined): KnownAgent | undefined =>
  Object.values<KnownAgent>(knownAgents).find((agent) => agent.info === info)

/** Names that a capability can name: others would need escapes. */
const plainName = /^[\w.-]{1,64}$/

/** What a call's tool is called in the space: its own name, one that is known, or ACP's kind. */
export function nameTool(call: CallFields, agent: KnownAgent | undefined): string {
  const names = [call.name, agent?.toolName?.(call), call.kind]
  return names.find((name) => name !== undefined && plainName.test(name)) ?? 'other'
}
