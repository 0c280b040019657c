import { createGoogleGenerativeAI } from '@ai-sdk/google'

const provider = createGoogleGenerativeAI({ apiKey: process.env.MODEL_API_KEY ?? '' })

/** A model by Google. */
export const model = { model: provider('gemini-3-pro') }
