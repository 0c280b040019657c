import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

/** One answer of a scripted model: a thought, then a text, then tool calls. */
export interface Step {
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly args: object }[]
}

/** Chooses the model's next step. `results`: the tool results since the last question. */
export type Script = (results: readonly string[], signal?: AbortSignal) => Step | Promise<Step>

/** A chat model that answers by a script, word by word. */
export class ScriptedChatModel extends BaseChatModel {
  readonly #script: Script

  constructor(script: Script) {
    super({})
    this.#script = script
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(): this {
    return this
  }

  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let all = new ChatGenerationChunk({ message: new AIMessageChunk(''), text: '' })
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      all = all.concat(chunk)
    return { generations: [all] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal }: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const results = messages.filter((message) => ToolMessage.isInstance(message)).map(({ text }) => text)
    for (const message of toChunks(await this.#script(results, signal), results.length)) {
      signal?.throwIfAborted()
      const chunk = new ChatGenerationChunk({ message, text: message.text })
      yield chunk
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk })
    }
  }
}

const toWords = (text = ''): string[] => text.match(/\S+\s*/g) ?? []

function toChunks({ thought, text, calls = [] }: Step, step: number): AIMessageChunk[] {
  const thoughts = toWords(thought).map((reasoning) => ({ type: 'reasoning', reasoning }))
  const tool_call_chunks = calls.map(({ name, args }, index) => {
    const id = `call_${step}_${index}`
    return { type: 'tool_call_chunk' as const, id, index, name, args: JSON.stringify(args) }
  })
  return [
    ...thoughts.map((block) => new AIMessageChunk({ content: [block] })),
    ...toWords(text).map((word) => new AIMessageChunk(word)),
    ...(calls.length > 0 ? [new AIMessageChunk({ content: '', tool_call_chunks })] : []),
  ]
}
