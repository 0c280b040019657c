import type { Extraction } from '@meup/agent-sdk/extract'
import type { Commit, GenerationConfig, ModelClient, PromptMessage } from '@meup/agent-sdk/transcript'

/** A response of a scripted model. */
export type Line = Partial<Extraction> & { readonly usage?: object }

export interface ScriptedClient extends ModelClient {
  /** The arguments of each call of the model. */
  readonly asked: { readonly messages: readonly PromptMessage[]; readonly options: GenerationConfig }[]
}

const silence = {
  reasoning: null,
  format: 'parsed',
  source: 'reasoning',
  text: '',
  toolCalls: [],
  opaque: [],
} as const

/** A model that returns one of these responses per call. */
export function scripted(lines: readonly Line[], more: Partial<ModelClient> = {}): ScriptedClient {
  const [left, asked]: [Line[], ScriptedClient['asked']] = [[...lines], []]
  return {
    asked,
    async generate(messages, options) {
      asked.push({ messages, options })
      const line = left.shift()
      if (line === undefined) throw new Error('the script is over')
      return { ...silence, ...line }
    },
    extractReasoning: (response) => response as Extraction,
    ...more,
  }
}

export const types = (all: readonly { readonly type: string }[]): string[] => all.map(({ type }) => type)

export const contentTypes = (commits: readonly Commit[]): string[] =>
  commits.map(({ content }) => content.content_type)
