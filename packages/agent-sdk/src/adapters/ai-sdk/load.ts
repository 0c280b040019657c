import type { AgentModel, ModelOptions } from '../../model/options.js'

/** Loads the `ai` package, which only those install who have models. Rejects where it is missing. */
export async function loadAi(): Promise<typeof import('ai')> {
  try {
    return await import('ai')
  } catch (cause) {
    const advice = 'install version 6 or 7 of it beside @meup/agent-sdk'
    throw new Error(`an agent with a language model needs the package ai: ${advice}`, { cause })
  }
}

/** The model that is asked for. One at a `baseURL` needs a package of its own; rejects where that is missing. */
export async function loadModel({ model, baseURL, apiKey }: ModelOptions): Promise<AgentModel> {
  if (baseURL === undefined) return model
  if (typeof model !== 'string') throw new Error('with a baseURL, `model` is the name of a model there')
  if (!URL.canParse(baseURL)) throw new Error(`the baseURL ${baseURL} is no URL`)
  const { createOpenAICompatible } = await importCompatible()
  const key = apiKey !== undefined && { apiKey }
  return createOpenAICompatible({ name: compatible, baseURL, includeUsage: true, ...key })(model)
}

/** The provider of models at a `baseURL`, also as the key of its options. */
const compatible = 'openai-compatible'

async function importCompatible() {
  try {
    return await import('@ai-sdk/openai-compatible')
  } catch (cause) {
    const advice = 'install it beside @meup/agent-sdk'
    throw new Error(`a model at a baseURL needs the package @ai-sdk/openai-compatible: ${advice}`, { cause })
  }
}
