import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readCredential } from '../../client/credential.js'
import type { AgentModel, ModelOptions } from '../../model/options.js'

/** Imports a package that is installed in a folder, or above it. Rejects where it is missing. */
export const importFrom = async (directory: string, name: string): Promise<unknown> =>
  import(pathToFileURL(createRequire(join(directory, 'package.json')).resolve(name)).href)

/**
 * Loads the `ai` package, which only those install who have models; that of the folder, where this package has none beside it. Rejects
 * where it is missing.
 */
export async function loadAi(directory?: string): Promise<typeof import('ai')> {
  try {
    return await import('ai').catch((error: unknown) => {
      if (directory === undefined) throw error
      return importFrom(directory, 'ai') as Promise<typeof import('ai')>
    })
  } catch (cause) {
    const advice = 'install version 6 or 7 of it beside @meup/agent-sdk'
    throw new Error(`an agent with a language model needs the package ai: ${advice}`, { cause })
  }
}

/** The model that is asked for. One at a `baseURL` needs a package of its own; rejects where that is missing. */
export async function loadModel(
  { model, baseURL, apiKey }: ModelOptions,
  directory?: string,
): Promise<AgentModel> {
  if (baseURL === undefined) return model
  if (typeof model !== 'string') throw new Error('with a baseURL, `model` is the name of a model there')
  if (!URL.canParse(baseURL)) throw new Error(`the baseURL ${baseURL} is no URL`)
  const { createOpenAICompatible } = await importCompatible(directory)
  const key = apiKey !== undefined && { apiKey: readCredential(apiKey, 'apiKey') }
  return createOpenAICompatible({ name: compatible, baseURL, includeUsage: true, ...key })(model)
}

/** The provider of models at a `baseURL`, also as the key of its options. */
const compatible = 'openai-compatible'

async function importCompatible(directory: string | undefined) {
  const name = '@ai-sdk/openai-compatible'
  try {
    return await import('@ai-sdk/openai-compatible').catch((error: unknown) => {
      if (directory === undefined) throw error
      return importFrom(directory, name) as Promise<typeof import('@ai-sdk/openai-compatible')>
    })
  } catch (cause) {
    const advice = 'install it beside @meup/agent-sdk'
    throw new Error(`a model at a baseURL needs the package ${name}: ${advice}`, { cause })
  }
}
