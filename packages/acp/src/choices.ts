import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { isObject } from '@meup/folds'
import { getErrorMessage, Kind } from '@meup/protocol'
import type { Choose } from './prompt.js'

/** Milliseconds for the asker to answer the elicitation. */
const answerTimeoutMs = 240_000

/**
 * Asks the participant that started the turn to choose an option, by an MCP elicitation, if it is present and the agent may ask
 * [MEUP-3.26].
 */
export function askForChoice(space: SpaceClient, turn: Turn, context: string): Choose {
  return async (question, options, signal) => {
    const { from, trigger } = turn
    const method = 'elicitation/create'
    const draft = { kind: Kind.mcpRequest, to: [from], context, payload: { jsonrpc: '2.0', method } }
    const isHere = space.participants.some(({ id, status }) => id === from && status === 'present')
    if (!isHere || !space.can(draft)) return undefined
    const names = options.map(({ name }) => name)
    const choice = { type: 'string', title: 'Choice', enum: options.map(({ id }) => id), enumNames: names }
    const form = { type: 'object', properties: { choice }, required: ['choice'] }
    try {
      const { action, content } = await space.request(
        from,
        method,
        { message: question, requestedSchema: form },
        { signal, timeoutMs: answerTimeoutMs, propose: false, correlationId: trigger.id, context },
      )
      if (action !== 'accept' || !isObject(content)) return { failure: `${from} did not choose` }
      const chosen = options.find(({ id, name }) => [id, name].includes(String(content.choice)))
      return chosen ?? { failure: `${from} chose ${JSON.stringify(content.choice)}, which is none of them` }
    } catch (error) {
      return { failure: getErrorMessage(error) }
    }
  }
}
