import { join } from 'node:path'
import { chatCompletions } from './apis/chat-completions.js'
import { gemini } from './apis/gemini.js'
import { messages } from './apis/messages.js'
import { responses } from './apis/responses.js'
import type { AgentName } from './install.js'
import type { ModelApi, ToolCall } from './model.js'
import type { ToolUse } from './script.js'

interface Recipe {
  readonly api: ModelApi
  /** The session mode in which the agent asks before it edits and runs commands; absent = it does so in its default mode. */
  readonly mode?: string
  /** Converts a use of a tool to a call by the agent's names. Paths in `use` are absolute. */
  toToolCall(use: ToolUse): ToolCall
  /** Returns how to start the agent. `model`: URL of its model. */
  start(model: string, home: string): Start
}

interface Start {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Files to write into the agent's home folder, by relative path. */
  readonly files?: Readonly<Record<string, string>>
}

const key = 'none'

/** For each agent, how to start it without a network, and the names of its tools. */
export const recipes: Record<AgentName, Recipe> = {
  opencode: {
    api: chatCompletions,
    toToolCall(use) {
      switch (use.kind) {
        case 'shell':
          return { name: 'bash', args: { command: use.command, description: 'Runs a command' } }
        case 'write':
          return { name: 'write', args: { filePath: use.path, content: use.text } }
        case 'read':
          return { name: 'read', args: { filePath: use.path } }
        case 'edit':
          return { name: 'edit', args: { filePath: use.path, oldString: use.before, newString: use.after } }
        case 'mcp':
          return { name: `${use.server}_${use.tool}`, args: use.args }
      }
    },
    start(model) {
      const config = {
        model: 'scripted/scripted',
        enabled_providers: ['scripted'],
        permission: { bash: 'ask', edit: 'ask' },
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: model, apiKey: key },
            models: {
              scripted: { reasoning: true, tool_call: true, limit: { context: 128_000, output: 8_000 } },
            },
          },
        },
      }
      const off = {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      }
      return { args: ['acp'], env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), ...off } }
    },
  },
  gemini: {
    api: gemini,
    toToolCall(use) {
      switch (use.kind) {
        case 'shell':
          return { name: 'run_shell_command', args: { command: use.command, description: 'Runs a command' } }
        case 'write':
          return { name: 'write_file', args: { file_path: use.path, content: use.text } }
        case 'read':
          return { name: 'read_file', args: { file_path: use.path } }
        case 'edit':
          return {
            name: 'replace',
            args: {
              file_path: use.path,
              old_string: use.before,
              new_string: use.after,
              instruction: 'Replaces it',
            },
          }
        case 'mcp':
          return { name: `mcp_${use.server}_${use.tool}`, args: use.args }
      }
    },
    start: (model) => ({
      args: ['--acp', '--skip-trust', '-m', 'gemini-2.5-pro'],
      env: { GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: key },
      files: {
        '.gemini/settings.json': JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          general: { enableAutoUpdate: false, disableAutoUpdate: true },
          privacy: { usageStatisticsEnabled: false },
        }),
      },
    }),
  },
  codex: {
    api: responses,
    toToolCall(use) {
      switch (use.kind) {
        case 'shell':
          return {
            name: 'exec_command',
            args: {
              cmd: use.command,
              // Without this field, the command runs in the agent's sandbox, and the agent asks no one.
              sandbox_permissions: 'require_escalated',
              justification: 'May I run this command?',
            },
          }
        case 'write': {
          const lines = use.text
            .replace(/\n$/, '')
            .split('\n')
            .map((line) => `+${line}\n`)
          return { name: 'apply_patch', args: toPatch(`*** Add File: ${use.path}\n${lines.join('')}`) }
        }
        case 'read':
          return { name: 'exec_command', args: { cmd: `cat '${use.path}'` } }
        case 'edit':
          return {
            name: 'apply_patch',
            args: toPatch(`*** Update File: ${use.path}\n@@\n-${use.before}\n+${use.after}\n`),
          }
        case 'mcp':
          return { namespace: `mcp__${use.server}`, name: use.tool.replaceAll(/\W/g, '_'), args: use.args }
      }
    },
    start: (model, home) => ({
      args: [],
      env: { CODEX_HOME: join(home, '.codex'), INITIAL_AGENT_MODE: 'read-only', SCRIPTED_KEY: key },
      files: {
        '.codex/config.toml': `
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${model}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`,
      },
    }),
  },
  claude: {
    api: messages,
    mode: 'default',
    toToolCall(use) {
      switch (use.kind) {
        case 'shell':
          return { name: 'Bash', args: { command: use.command, description: 'Runs a command' } }
        case 'write':
          return { name: 'Write', args: { file_path: use.path, content: use.text } }
        case 'read':
          return { name: 'Read', args: { file_path: use.path } }
        case 'edit':
          return {
            name: 'Edit',
            args: { file_path: use.path, old_string: use.before, new_string: use.after },
          }
        case 'mcp':
          return { name: `mcp__${use.server}__${use.tool}`, args: use.args }
      }
    },
    start: (model) => ({
      args: [],
      env: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
        ENABLE_TOOL_SEARCH: 'false',
      },
    }),
  },
  copilot: {
    api: chatCompletions,
    toToolCall(use) {
      switch (use.kind) {
        case 'shell':
          return { name: 'bash', args: { command: use.command, description: 'Runs a command' } }
        case 'write':
          return { name: 'create', args: { path: use.path, file_text: use.text } }
        case 'read':
          return { name: 'view', args: { path: use.path } }
        case 'edit':
          return { name: 'edit', args: { path: use.path, old_str: use.before, new_str: use.after } }
        case 'mcp':
          return { name: `${use.server}-${use.tool}`, args: use.args }
      }
    },
    start: (model) => ({
      args: ['--acp', '--no-auto-update'],
      env: {
        COPILOT_PROVIDER_BASE_URL: model,
        COPILOT_PROVIDER_API_KEY: key,
        COPILOT_MODEL: 'scripted',
        COPILOT_OFFLINE: 'true',
      },
    }),
  },
}

const toPatch = (hunk: string): string => `*** Begin Patch\n${hunk}*** End Patch`
