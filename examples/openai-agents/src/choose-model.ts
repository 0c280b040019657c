import type { Model } from '@openai/agents'
import { reviewerScript } from './script.js'
import { scriptedModel } from './scripted-model.js'

/** Chooses an OpenAI model by name: MODEL, or a default. Without OPENAI_API_KEY, a script plays the model. */
export function chooseModel(env: Readonly<Record<string, string | undefined>>): string | Model {
  const { MODEL, OPENAI_API_KEY: apiKey } = env
  if (!apiKey) return scriptedModel(reviewerScript)
  return MODEL || 'gpt-5.1'
}
