import type { DialRequest } from '@meup/agent-sdk'
import { reasoningCommand, type Style } from '@meup/folds'
import { latestAnswerer, noAnswerer, threadOf, turnsAsked } from '../reasoning/read-turns.js'
import type { LiveTurns } from './live-turns.js'

/** The lines of `/reasoning <argument>` in a conversation: about whoever answered last, or who is named with `@`. */
export async function inspect(
  argument: string,
  at: DialRequest,
  live: LiveTurns,
  style: Style,
): Promise<string[]> {
  const words = argument.split(/\s+/)
  const named = words.find((word) => word.startsWith('@'))?.slice(1)
  const asked = words.filter((word) => !word.startsWith('@')).join(' ')
  const answerer = live.answerer ?? (await latestAnswerer(at))
  const agent = named ?? answerer
  if (agent === undefined) throw noAnswerer('@<agent>')
  const thread = threadOf(at.space, agent)
  const turns = await turnsAsked(at, thread, asked)
  const isActive = answerer !== undefined && thread === threadOf(at.space, answerer)
  return reasoningCommand(asked, { turns, isActive }, style)
}
