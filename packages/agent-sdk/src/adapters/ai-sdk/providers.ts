import type { AgentModel } from '../../model/language-model.js'

/**
 * Whose reasoning is written to be read: a summary of the chain of thought, made by the provider. Of all others it is
 * taken for the raw one.
 */
const summarising = ['anthropic.', 'azure.', 'google.', 'openai.', 'vertex.', 'xai.responses']
/** Who wants the bare text of reasoning back, with the calls that it led to. */
const lending = ['alibaba.', 'deepseek.', 'moonshotai.']

/** As the provider names itself, such as `openai.responses`; of a model at the AI Gateway, whose it is. */
export function providerOf(model: AgentModel): string {
  if (typeof model !== 'string' && model.provider !== 'gateway') return model.provider
  const name = typeof model === 'string' ? model : model.modelId
  return `${name.split('/')[0]}.gateway`
}

export const summarises = (provider: string): boolean => summarising.some((each) => provider.startsWith(each))
export const wantsReasoningBack = (provider: string): boolean =>
  lending.some((each) => provider.startsWith(each))
