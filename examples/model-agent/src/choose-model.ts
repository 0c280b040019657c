import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel } from 'ai'
import { reviewerScript } from './script.js'

/**
 * The model that MODEL names, as `vendor/name`: with that vendor's own key, or through the AI Gateway, which has them all.
 * Without MODEL, a script plays the model. Throws where there is no key.
 */
export function chooseModel(env: Readonly<Record<string, string | undefined>>): LanguageModel {
  const { MODEL, ANTHROPIC_API_KEY, OPENAI_API_KEY, AI_GATEWAY_API_KEY } = env
  if (!MODEL) return reviewerScript()
  const [vendor, name = ''] = MODEL.split(/\/(.*)/s)
  if (vendor === 'anthropic' && ANTHROPIC_API_KEY) return createAnthropic({ apiKey: ANTHROPIC_API_KEY })(name)
  if (vendor === 'openai' && OPENAI_API_KEY) return createOpenAI({ apiKey: OPENAI_API_KEY })(name)
  if (AI_GATEWAY_API_KEY) return MODEL
  throw new Error(`MODEL is ${MODEL}: set the key of its vendor, or AI_GATEWAY_API_KEY`)
}
