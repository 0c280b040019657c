import type { Model } from '@openai/agents'
import { reviewerScript } from './script.js'
import { scriptedModel } from './scripted-model.js'

/** The name of a model of OpenAI, MODEL if that is given. Without its key, a script plays the model. */
export const chooseModel = ({
  MODEL,
  OPENAI_API_KEY,
}: Readonly<Record<string, string | undefined>>): string | Model =>
  OPENAI_API_KEY ? MODEL || 'gpt-5.1' : scriptedModel(reviewerScript)
