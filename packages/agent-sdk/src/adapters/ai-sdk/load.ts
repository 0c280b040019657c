import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readCredential } from '../../client/credential.js'
import type { ModelOptions } from '../../model/options.js'
import { optionError } from '../errors.js'
import { fetchStream } from './fetch-stream.js'
import type { Terms } from './refusals.js'
import { ServedModel } from './served-model.js'

/** Imports a package that is installed in a folder or above it. Rejects if it is missing. */
export const importFrom = async (directory: string, name: string): Promise<unknown> =>
  import(pathToFileURL(createRequire(join(directory, 'package.json')).resolve(name)).href)

/**
 * Loads the optional `ai` package: the one installed next to this package, otherwise the one of `directory`. Rejects if it is
 * missing.
 */
export async function loadAi(directory?: string): Promise<typeof import('ai')> {
  try {
    return await import('ai').catch((error: unknown) => {
      if (directory === undefined) throw error
      return importFrom(directory, 'ai') as Promise<typeof import('ai')>
    })
  } catch (cause) {
    throw optionError('ai', {}, { cause })
  }
}

/** Loads the chosen model and its fallbacks. Models at a `baseURL` need an additional package; rejects if it is missing. */
export async function loadModels(
  options: ModelOptions,
  directory?: string,
): Promise<[ServedModel, ...ServedModel[]]> {
  const { baseURL: _, apiKey: __, ...elsewhere } = options
  const others = (options.fallback ?? []).map((model) =>
    // A model object contains its own address and key, so `baseURL` and `apiKey` are only for names of models.
    typeof model === 'string' ? { ...options, model } : { ...elsewhere, model },
  )
  return Promise.all([loadModel(options, directory), ...others.map((each) => loadModel(each, directory))])
}

async function loadModel(options: ModelOptions, directory: string | undefined): Promise<ServedModel> {
  const { model, baseURL, apiKey } = options
  if (baseURL === undefined) return new ServedModel(options)
  if (typeof model !== 'string') throw optionError('modelObject', {})
  checkAddress(baseURL)
  const { createOpenAICompatible } = await importCompatible(directory)
  const key = apiKey !== undefined && { apiKey: readCredential(apiKey, 'apiKey') }
  return new ServedModel(options, (getTerms) =>
    createOpenAICompatible({
      name: compatible,
      baseURL,
      includeUsage: true,
      fetch: fetchStream,
      transformRequestBody: (body) => adaptBody(body, getTerms()),
      ...key,
    })(model),
  )
}

/** Throws if the address cannot be used for requests. */
function checkAddress(baseURL: string): void {
  if (/^(?:\w+:)?\/*[^/]*@/.test(baseURL)) throw optionError('secretInAddress', {})
  if (!URL.canParse(baseURL) || !/^https?:/i.test(baseURL)) throw optionError('baseURL', { given: baseURL })
}

/** Changes the body of a request in ways for which `@ai-sdk/openai-compatible` has no settings. */
function adaptBody(
  { stream_options, messages, ...body }: Readonly<Record<string, unknown>>,
  { asksUsage, returnsReasoning }: Terms,
): Record<string, unknown> {
  // DeepSeek requires `reasoning_content` in every message with tool calls, even if there was no reasoning.
  const thoughtless = { role: 'assistant', reasoning_content: '' }
  const withThoughts = (Array.isArray(messages) ? messages : []).map((each) =>
    returnsReasoning && each.tool_calls !== undefined ? { ...thoughtless, ...each } : each,
  )
  return {
    ...body,
    messages: withThoughts,
    ...(asksUsage && stream_options !== undefined && { stream_options }),
  }
}

/** Name of the provider for models at a `baseURL`, and the key of its entry in `providerOptions`. */
const compatible = 'openai-compatible'

async function importCompatible(directory: string | undefined) {
  const name = '@ai-sdk/openai-compatible'
  try {
    return await import('@ai-sdk/openai-compatible').catch((error: unknown) => {
      if (directory === undefined) throw error
      return importFrom(directory, name) as Promise<typeof import('@ai-sdk/openai-compatible')>
    })
  } catch (cause) {
    throw optionError('compatible', { name }, { cause })
  }
}
