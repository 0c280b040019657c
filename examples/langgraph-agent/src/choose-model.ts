import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ChatOpenAI } from '@langchain/openai'
import { reviewerScript } from './script.js'
import { ScriptedChatModel } from './scripted-chat-model.js'

/** Chooses an OpenAI model: MODEL, or a default. Without OPENAI_API_KEY, a script plays the model. */
export function chooseModel(env: Readonly<Record<string, string | undefined>>): BaseChatModel {
  const { MODEL, OPENAI_API_KEY: apiKey } = env
  if (!apiKey) return new ScriptedChatModel(reviewerScript)
  return new ChatOpenAI({ model: MODEL || 'gpt-5.1', apiKey, reasoning: { summary: 'auto' } })
}
