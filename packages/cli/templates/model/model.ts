/** A model on any server with an OpenAI-compatible API. */
export const model = {
  model: 'qwen3',
  baseURL: 'http://127.0.0.1:11434/v1',
  apiKey: process.env.MODEL_API_KEY ?? '',
}
