import type { Turn } from '../agent/turn.js'
import { parseToolResult, type ToolResult } from '../client/tool-result.js'
import type { OfferedTool } from './toolbox.js'

/** A function of the agent itself that a model can call like a tool. */
export interface Act extends OfferedTool {
  act(args: Readonly<Record<string, unknown>>, signal: AbortSignal | undefined): Promise<ToolResult>
}

/** Maximum characters of an agent's description. */
const maxDescriptionChars = 200

const propertyNames: ReadonlyMap<string, string> = new Map()

/**
 * Creates tools with which a model may ask other agents, or hand the question over to them. Only agents with a description are
 * offered. `chosen`: ids of agents; default: all.
 */
export function offerColleagues(turn: Turn, chosen: readonly string[] | undefined): ReadonlyMap<string, Act> {
  const { space } = turn
  const colleagues = space.participants.filter(
    ({ id, kind, description, kicked }) =>
      id !== space.id &&
      kicked === undefined &&
      ['agent', 'process', 'acp'].includes(kind) &&
      (chosen === undefined ? description !== undefined : chosen.includes(id)),
  )
  if (colleagues.length === 0) return new Map()
  const list = colleagues.map(
    ({ id, description = '' }) => `\n- ${id}: ${description.slice(0, maxDescriptionChars)}`,
  )
  const agent = { type: 'string', enum: colleagues.map(({ id }) => id) }
  const about = { participant: space.id, rationaleKey: '', propertyNames }
  const text = (value: string): ToolResult => ({
    ...parseToolResult({ content: [{ type: 'text', text: value }] }),
    id: turn.trigger.id,
  })
  return new Map([
    [
      'ask_agent',
      {
        ...about,
        name: 'ask_agent',
        description: `Asks another agent, which knows nothing of this conversation, and gives its answer:${list.join('')}`,
        inputSchema: {
          type: 'object',
          properties: { agent, question: { type: 'string' } },
          required: ['agent', 'question'],
        },
        act: async ({ agent, question }, signal) => {
          const { from, text: said } = await turn.ask(
            String(agent),
            String(question),
            signal ? { signal } : {},
          )
          return text(`${from} answered: ${said}`)
        },
      },
    ],
    [
      'hand_over',
      {
        ...about,
        name: 'hand_over',
        description: `Has another agent answer the question instead, and ends your turn. Use it where the question is theirs:${list.join('')}`,
        inputSchema: {
          type: 'object',
          properties: { agent, note: { type: 'string', description: 'what that agent has to know' } },
          required: ['agent'],
        },
        act: async ({ agent, note }) => {
          await turn.handOver(String(agent), typeof note === 'string' ? note : undefined)
          return text(`${String(agent)} has it now`)
        },
      },
    ],
  ])
}
