import type { Turn } from '@meup/agent-sdk'
import { getNamed } from '@meup/folds'
import type { OfferedCommand } from './agent-updates.js'

interface AgentCommand {
  readonly name: string
  readonly text: string
  /** The reply if the agent has no such command. */
  readonly unknown?: string
}

/** Matches `/compact` and `/review src`, but not a path. */
const commandPattern = /^\/([\w:.-]+)(?:\s|$)/

/**
 * Reads the agent's slash command in a chat that names the agent: `/compact` or `@coder /compact`. `offered`: the agent's
 * commands; empty = not known.
 */
export function readAgentCommand(
  { text, trigger }: Pick<Turn, 'text' | 'trigger'>,
  self: string,
  offered: readonly OfferedCommand[],
): AgentCommand | undefined {
  if (getNamed(trigger)?.includes(self) !== true) return undefined
  const mention = `@${self}`
  const rest = text.startsWith(mention) ? text.slice(mention.length).replace(/^[,:]?\s+/, '') : text
  const [, name] = commandPattern.exec(rest) ?? []
  if (name === undefined) return undefined
  const command = { name, text: rest }
  if (offered.length === 0 || offered.some((each) => each.name === name)) return command
  const list = offered.map(({ name, description }) => `/${name}${description && `: ${description}`}`)
  return { ...command, unknown: [`I have no command /${name}. I have:`, ...list].join('\n- ') }
}
