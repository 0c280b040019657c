import { dropNulls, isObject } from '@meup/folds'
import { isSpecType, type McpServer } from '@modelcontextprotocol/server'
import { serveError } from '../errors.js'
import { withUri } from '../results.js'
import type { SpaceService } from '../service.js'
import { relayed, timeoutMs } from './resources.js'
import { createWhyPrompt, whyPrompt } from './why-prompt.js'

/**
 * Serves the prompt of the space, and the prompts of participants as `participant__prompt`. Also completes arguments of prompts
 * and templates.
 */
export function servePrompts({ server }: McpServer, { offers, space, uris }: SpaceService): void {
  server.setRequestHandler('prompts/list', async () => ({
    prompts: [whyPrompt, ...(await offers.listPrompts())],
  }))

  server.setRequestHandler('prompts/get', async ({ params }, { mcpReq: { signal } }) => {
    if (params.name === whyPrompt.name) return createWhyPrompt(params.arguments?.ref ?? '')
    const { participant, name } = await find(params.name)
    const own = { name, ...(params.arguments && { arguments: params.arguments }) }
    const result = await relayed(space.request(participant, 'prompts/get', own, { signal, timeoutMs }))
    const messages = Array.isArray(result.messages) ? result.messages : []
    const toUri = (uri: string): string => uris.offered(participant, uri)
    const prompt = {
      ...(dropNulls(result) as object),
      messages: messages
        .map(dropNulls)
        .map((each) => (isObject(each) ? { ...each, content: withUri(each.content, toUri) } : each)),
    }
    if (isSpecType.GetPromptResult(prompt)) return prompt
    throw serveError('invalid_result', { participant, what: 'prompt' })
  })

  server.setRequestHandler('completion/complete', async ({ params }, { mcpReq: { signal } }) => {
    const { ref, ...rest } = params
    const target = ref.type === 'ref/prompt' ? await findPrompt(ref.name) : findTemplate(ref.uri)
    const answer =
      target &&
      (await relayed(
        space.request(
          target.participant,
          'completion/complete',
          { ...rest, ref: target.ref },
          { signal, timeoutMs },
        ),
      ))
    const result = dropNulls(answer)
    return result !== undefined && isSpecType.CompleteResult(result)
      ? result
      : { completion: { values: [], hasMore: false } }
  })

  async function find(prompt: string): Promise<{ readonly participant: string; readonly name: string }> {
    const found = (await offers.prompts()).get(prompt)
    if (found === undefined) throw serveError('unknown_prompt', { prompt })
    return found
  }

  async function findPrompt(prompt: string) {
    const { participant, name } = await find(prompt)
    return { participant, ref: { type: 'ref/prompt', name } }
  }

  function findTemplate(template: string) {
    const offered = uris.parseOffered(template)
    return offered && { participant: offered.participant, ref: { type: 'ref/resource', uri: offered.uri } }
  }
}
