export const chunk = (delta: object, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
  usage: null,
})
export const whole = (message: object, usage: object, finish_reason = 'stop') => ({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage,
})
export const last = (usage: object) => ({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage })
export const counts = (
  prompt: number,
  completion: number,
  reasoning: number,
  total = prompt + completion,
) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  completion_tokens_details: { reasoning_tokens: reasoning },
})

export const usage = counts(20, 30, 18)
