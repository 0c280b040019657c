import { createAnthropic } from '@ai-sdk/anthropic'

const provider = createAnthropic({ apiKey: process.env.MODEL_API_KEY ?? '' })

/** A model by Anthropic. */
export const model = { model: provider('claude-sonnet-4-5') }
