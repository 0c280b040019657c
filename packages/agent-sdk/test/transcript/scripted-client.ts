import type { Extraction } from '@meup/agent-sdk/extract'
import type { Commit, GenerationConfig, ModelClient, PromptMessage } from '@meup/agent-sdk/transcript'

/** A scripted model's answer, and its thoughts. */
export type Line = Partial<Extraction> & { readonly usage?: object }

export interface ScriptedClient extends ModelClient {
  /** Its prompts, call by call. */
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

/** A model that says its lines, one at each call. */
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
