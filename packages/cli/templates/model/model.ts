/** A model on any server that speaks as OpenAI's does. */
export const model = {
  model: 'qwen3',
  baseURL: 'http://127.0.0.1:11434/v1',
  apiKey: process.env.MODEL_API_KEY ?? '',
}
