import { createOpenAI } from '@ai-sdk/openai'

const provider = createOpenAI({ apiKey: process.env.MODEL_API_KEY ?? '' })

/** A model by OpenAI. */
export const model = { model: provider('gpt-5.1') }
